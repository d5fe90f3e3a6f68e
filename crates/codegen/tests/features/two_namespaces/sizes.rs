const _: () = assert!(size_of::<enumerations::Kind>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<other::Part>() <= 4 && 4 <= 1024);
const _: () = assert!(size_of::<other::Parts>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Value>() <= 88 && 88 <= 1024);
