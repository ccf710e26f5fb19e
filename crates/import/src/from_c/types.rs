//! The types of C, as gcc and clang have them on Linux.

/// How wide the types of C are whose width the language leaves open: what the competition calls the data model of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataModel {
    /// `long` and pointers have 64 bits.
    #[default]
    Lp64,
    /// `long` and pointers have 32 bits.
    Ilp32,
}

impl DataModel {
    /// The bits of `long`, and of pointers.
    pub(crate) fn word(self) -> u32 {
        match self {
            DataModel::Lp64 => 64,
            DataModel::Ilp32 => 32,
        }
    }

    /// `long`, which is as wide as a pointer.
    pub(crate) fn long(self) -> IntType {
        IntType::new(self.word(), true)
    }

    /// `size_t`.
    pub(crate) fn size(self) -> IntType {
        IntType::new(self.word(), false)
    }
}

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IntType {
    /// 1 for `_Bool`.
    pub bits: u32,
    pub signed: bool,
    /// Each use of an object of this type is one step, also a read and a write of it together.
    pub atomic: bool,
}

impl IntType {
    pub const INT: IntType = IntType::new(32, true);
    pub const UNSIGNED: IntType = IntType::new(32, false);
    pub const LONG_LONG: IntType = IntType::new(64, true);
    pub const BOOL: IntType = IntType::new(1, false);

    pub const fn new(bits: u32, signed: bool) -> Self {
        IntType {
            bits,
            signed,
            atomic: false,
        }
    }

    /// Without its qualifier.
    pub fn plain(self) -> Self {
        IntType {
            atomic: false,
            ..self
        }
    }

    pub fn least(self) -> i128 {
        match self.signed {
            true => -(1 << (self.bits - 1)),
            false => 0,
        }
    }

    pub fn greatest(self) -> i128 {
        match self.signed {
            true => (1 << (self.bits - 1)) - 1,
            false => (1 << self.bits) - 1,
        }
    }

    /// What a value of this type becomes before it is computed with.
    pub fn promoted(self) -> Self {
        match self.bits < 32 {
            true => IntType::INT,
            false => self.plain(),
        }
    }

    /// The type that two operands are brought to.
    pub fn common(self, other: Self) -> Self {
        let (a, b) = (self.promoted(), other.promoted());
        if a.bits == b.bits {
            IntType::new(a.bits, a.signed && b.signed)
        } else if a.bits > b.bits {
            a
        } else {
            b
        }
    }
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Void,
    Int(IntType),
    /// Which of the structs that were declared.
    Struct(usize),
    /// An array, with its size if it is known.
    Array(Box<Type>, Option<u32>),
    Pointer(Box<Type>),
    Mutex,
    /// A condition variable. Waiting may end at any time, so it has no state.
    Condition,
    Semaphore,
    ReadWriteLock,
    Barrier,
    /// A handle of a thread.
    Thread,
    /// Attributes, which have to be those that objects have anyway.
    Attributes,
    Function,
    /// Something that cannot be brought over: what it is.
    Other(&'static str),
}

/// The types of headers, by name.
pub(crate) fn known(name: &str, model: DataModel) -> Option<Type> {
    let word = model.word();
    let int = |bits, signed| Some(Type::Int(IntType::new(bits, signed)));
    let atomic = |bits, signed| {
        Some(Type::Int(IntType {
            bits,
            signed,
            atomic: true,
        }))
    };
    match name {
        "pthread_t" => Some(Type::Thread),
        "pthread_mutex_t" | "pthread_spinlock_t" => Some(Type::Mutex),
        "pthread_cond_t" => Some(Type::Condition),
        "sem_t" => Some(Type::Semaphore),
        "pthread_rwlock_t" => Some(Type::ReadWriteLock),
        "pthread_barrier_t" => Some(Type::Barrier),
        "pthread_attr_t"
        | "pthread_mutexattr_t"
        | "pthread_condattr_t"
        | "pthread_rwlockattr_t"
        | "pthread_barrierattr_t" => Some(Type::Attributes),
        "int8_t" | "int_least8_t" | "int_fast8_t" => int(8, true),
        "uint8_t" | "uint_least8_t" | "uint_fast8_t" => int(8, false),
        "int16_t" | "int_least16_t" => int(16, true),
        "uint16_t" | "uint_least16_t" => int(16, false),
        "int32_t" | "int_least32_t" => int(32, true),
        "uint32_t" | "uint_least32_t" => int(32, false),
        "int64_t" | "int_least64_t" | "int_fast64_t" | "intmax_t" => int(64, true),
        "uint64_t" | "uint_least64_t" | "uint_fast64_t" | "uintmax_t" => int(64, false),
        "intptr_t" | "ssize_t" | "ptrdiff_t" | "int_fast16_t" | "int_fast32_t" | "time_t"
        | "off_t" => int(word, true),
        "uintptr_t" | "size_t" | "uint_fast16_t" | "uint_fast32_t" => int(word, false),
        "useconds_t" => int(32, false),
        "pid_t" | "memory_order" => int(32, true),
        "atomic_int" => atomic(32, true),
        "atomic_uint" => atomic(32, false),
        "atomic_bool" | "atomic_flag" => atomic(1, false),
        "atomic_char" | "atomic_schar" => atomic(8, true),
        "atomic_uchar" => atomic(8, false),
        "atomic_short" => atomic(16, true),
        "atomic_ushort" => atomic(16, false),
        "atomic_llong" => atomic(64, true),
        "atomic_ullong" => atomic(64, false),
        "atomic_long" | "atomic_intptr_t" => atomic(word, true),
        "atomic_ulong" | "atomic_size_t" | "atomic_uintptr_t" => atomic(word, false),
        "FILE" => Some(Type::Other("a file")),
        "va_list" | "__builtin_va_list" => Some(Type::Other("a list of arguments")),
        // 0 before, 1 during and 2 after the one call.
        "pthread_once_t" => int(32, true),
        "once_flag" => Some(Type::Other("a flag of `call_once`")),
        "pthread_key_t" => Some(Type::Other("a key of data of each thread")),
        "mtx_t" | "cnd_t" | "thrd_t" => Some(Type::Other("a type of <threads.h>")),
        _ => None,
    }
}
