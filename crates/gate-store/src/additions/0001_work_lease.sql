-- A lease has the id of the request that claimed it, and no request gets two items.

CREATE UNIQUE INDEX work_lease ON work (project, lease) WHERE lease IS NOT NULL;
