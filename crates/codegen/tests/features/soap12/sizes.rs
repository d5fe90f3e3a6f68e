const _: () = assert!(size_of::<Value>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Version>() <= 4 && 4 <= 1024);
const _: () = assert!(size_of::<SoapVersionType>() <= 8 && 8 <= 1024);
const _: () = assert!(size_of::<EchoFault>() <= 16 && 16 <= 1024);
