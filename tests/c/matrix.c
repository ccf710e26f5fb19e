//@ expect checks: proved
// A small matrix, a row for each thread; main adds up after the join.
#include <pthread.h>
#include <assert.h>

#define ROWS 2
#define COLUMNS 2

int matrix[ROWS][COLUMNS];

void *fill(void *arg) {
    int row = *(int *)arg;
    for (int column = 0; column < COLUMNS; column++) {
        matrix[row][column] = row * COLUMNS + column;
    }
    return 0;
}

int first_row = 0, second_row = 1;

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, fill, &first_row);
    pthread_create(&b, 0, fill, (void *)&second_row);
    pthread_join(a, 0);
    pthread_join(b, 0);
    int sum = 0;
    for (int r = 0; r < ROWS; r++) {
        for (int c = 0; c < COLUMNS; c++) {
            sum += matrix[r][c];
        }
    }
    assert(sum == 0 + 1 + 2 + 3);
    return 0;
}
