const _: () = assert!(size_of::<List>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Tree>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Wife>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Husband>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Nil>() <= 16 && 16 <= 1024);
const _: () = assert!(size_of::<Value>() <= 88 && 88 <= 1024);
