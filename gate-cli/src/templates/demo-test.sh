# The tests of price.sh. They print TAP (Test Anything Protocol).
. ./price.sh

expect() { # LINE NAME EXPECTED GOT
    if [ "$3" = "$4" ]; then
        echo "ok - $2"
    else
        echo "not ok - $2"
        echo "# test.sh:$1: expected $3 cents, got $4"
    fi
}

echo 1..2
expect 14 small_order_has_full_price 9900 "$(price 9900)"
expect 15 large_order_is_cheaper 9000 "$(price 10000)"
