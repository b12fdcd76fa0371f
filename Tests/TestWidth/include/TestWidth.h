/* Has no names: it is linked for what it does before the tests begin. */
