//@ expect checks: proved
// Values that nobody uses, whose parts are computed only if they can be.
int main(void) {
    int a[2] = {1, 2};
    int i = 1;
    (void)a[i];
    i++;
    i < 2 && a[i];
    i >= 2 || a[i];
    (void)sizeof(a[i]);
    if (a[1]) {
    }
}
