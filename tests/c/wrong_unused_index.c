//@ expect checks: violated
// A value that nobody uses is computed all the same.
int main(void) {
    int a[2] = {1, 2};
    int i = 1;
    (void)a[i];
    a[i] && a[i - 1];
    i++;
    (void)!a[i];
}
