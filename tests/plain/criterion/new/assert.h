/* Nothing: criterion.h beside this folder has all that the tests use. */
