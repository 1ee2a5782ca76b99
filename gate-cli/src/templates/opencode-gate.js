const COMMAND = "gate hook opencode"
