const _: () = assert!(size_of::<Optional>() <= 12 && 12 <= 1024);
const _: () = assert!(size_of::<OverOptional>() <= 40 && 40 <= 1024);
const _: () = assert!(size_of::<Fixed>() <= 32 && 32 <= 1024);
const _: () = assert!(size_of::<Base>() <= 12 && 12 <= 1024);
const _: () = assert!(size_of::<Extension>() <= 16 && 16 <= 1024);
const _: () = assert!(size_of::<BaseOrDerived>() <= 112 && 112 <= 1024);
const _: () = assert!(size_of::<All>() <= 12 && 12 <= 1024);
const _: () = assert!(size_of::<Parted>() <= 40 && 40 <= 1024);
