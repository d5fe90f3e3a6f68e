const _: () = assert!(size_of::<FromNothing>() <= 4 && 4 <= 1024);
const _: () = assert!(size_of::<Unchanged>() <= 4 && 4 <= 1024);
const _: () = assert!(size_of::<Base>() <= 4 && 4 <= 1024);
const _: () = assert!(size_of::<Extended>() <= 12 && 12 <= 1024);
const _: () = assert!(size_of::<Value>() <= 40 && 40 <= 1024);
const _: () = assert!(size_of::<BaseOrDerived>() <= 112 && 112 <= 1024);
