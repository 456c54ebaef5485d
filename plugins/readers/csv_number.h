/* Numbers of text, the same in every locale. */
#ifndef TFSDK_READERS_CSV_NUMBER_H
#define TFSDK_READERS_CSV_NUMBER_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum csv_number { CSV_NUMBER_OK, CSV_NUMBER_NONE, CSV_NUMBER_RANGE };

/* Reads all of text[0 .. n), which a NUL follows, as one number of that dtype and writes it to
 * `out`. Spaces around it are allowed. Integers: a sign and digits. Floating: digits, point,
 * exponent; inf and nan in any case. bool: true, false, 1, 0 in any case. RANGE: a number that the
 * dtype does not hold. `c` is the C locale. */
enum csv_number csv_read_number(const char *text, size_t n, int32_t dtype, locale_t c, void *out);
/* Types that csv_read_number knows. */
bool csv_is_number_type(int32_t dtype);

#endif
