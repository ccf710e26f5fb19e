//@ expect checks: violated
// Nobody uses the element that is passed, but reading it is wrong all the same: there is none.
int a[2];

static int one(int ignored) { return 1; }

int main(void) {
    a[0] = one(a[3]);
    return 0;
}
