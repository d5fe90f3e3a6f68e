//! Logs in to a vCenter, lists its virtual machines, waits until one of them changes, and logs out.

use std::env::args;
use std::error::Error;

use castile::http::client::{Options, Roots, Tls, TlsOptions, Transport};
use castile::http::tls::Pem;
use castile::{Any, AnyType, Detail, Fault};

mod vim;
use vim::vim25::*;
use vim::{LoginFault, VimPortTypeClient};

/// The message for fields that are optional in the contract.
const OF_A_VCENTER: &str = "a vCenter has it";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let [_, url, certificate, user, password] =
        <[String; 5]>::try_from(args().collect::<Vec<_>>()).map_err(|_| "expected URL CERTIFICATE USER PASSWORD")?;

    let mut options = Options::default();
    // The session is identified by a cookie.
    options.cookies = true;
    let mut tls = TlsOptions::default();
    // A vCenter has a self-signed certificate.
    tls.roots = Roots::Only(vec![Pem::file(certificate)]);
    options.tls = Tls::with_options(tls)?;
    let client = VimPortTypeClient::with_transport(&url, Transport::with_options(options))?;

    let this = reference("ServiceInstance", "ServiceInstance");
    let content = client.retrieve_service_content(&RetrieveServiceContentRequestType { this }).await?.returnval;
    println!("{} {}", content.about.api_type, content.about.vendor);

    let sessions = *content.session_manager.expect(OF_A_VCENTER);
    let login = |password: &str| LoginRequestType {
        this: sessions.clone(),
        user_name: user.clone(),
        password: password.to_owned(),
        locale: None,
    };
    match client.login(&login("wrong")).await {
        Err(error) if matches!(error.detail(), Some(LoginFault::InvalidLoginFault(_))) => println!("wrong: {error}"),
        other => return Err(format!("a wrong password, and {other:?}").into()),
    }
    let session = client.login(&login(&password)).await?.returnval;
    println!("logged in as {}", session.user_name);

    let views = *content.view_manager.expect(OF_A_VCENTER);
    let viewing = CreateContainerViewRequestType {
        this: views,
        container: (*content.root_folder).clone(),
        r#type: vec!["VirtualMachine".into()],
        recursive: true,
    };
    let view = client.create_container_view(&viewing).await?.returnval;

    let collector = *content.property_collector;
    let machines = retrieve(&client, &collector, in_view(&view, &PROPERTIES)).await?;
    for machine in &machines {
        println!("a machine");
        for property in &machine.prop_set {
            println!("  {}: {}", property.name, told(&property.val)?);
        }
    }
    let found = retrieve(&client, &collector, below(&content.root_folder)).await?;
    println!("{} machines in the view, {} below the folder", machines.len(), found.len());

    let request = CreateFilterRequestType {
        this: collector.clone(),
        spec: in_view(&view, &["name", "runtime"]),
        partial_updates: true,
    };
    client.create_filter(&request).await?;
    let first = updates(&client, &collector, None).await?.ok_or("no update tells what is there")?;
    println!("{} objects are there", changed(&first).count());

    let machine = &machines[0].obj;
    let off = PowerOffVmRequestType { this: machine.clone() };
    // The response to the first request waits for the second request.
    let (next, off) =
        tokio::join!(updates(&client, &collector, Some(first.version)), client.power_off_vm_task(&off).into_future());
    println!("a {} turns it off", off?.returnval.r#type.unwrap_or_default());
    for update in changed(&next?.ok_or("no update tells of it")?).filter(|update| update.obj == *machine) {
        for change in &update.change_set {
            println!(
                "{}, {} of {}: {}",
                update.kind,
                change.op,
                change.name,
                change.val.as_ref().map_or(Ok("gone".into()), told)?
            );
        }
    }

    client.logout(&LogoutRequestType { this: sessions }).await?;
    match client.create_container_view(&viewing).await.map_err(|error| error.fault().and_then(kind)) {
        Err(Some(fault)) => println!("after the logout: {fault}"),
        other => return Err(format!("after the logout {other:?}").into()),
    }
    Ok(())
}

/// One property for each kind of value.
const PROPERTIES: [&str; 6] =
    ["name", "runtime", "summary.config.numCpu", "config.template", "config.hardware.device", "network"];

/// Returns a specification of these properties of all machines in a view.
fn in_view(view: &ManagedObjectReference, properties: &[&str]) -> PropertyFilterSpec {
    let to_its_objects = TraversalSpec { r#type: "ContainerView".into(), path: "view".into(), ..Default::default() };
    specification(view, vec![to_its_objects.into()], properties)
}

/// Returns a specification of the names of all machines below a folder, at any depth. A selection may name another one,
/// or itself.
fn below(folder: &ManagedObjectReference) -> PropertyFilterSpec {
    let to = |name: &str| SelectionSpec { name: Some(name.into()) }.into();
    let from_folders = TraversalSpec {
        name: Some("from folders".into()),
        r#type: "Folder".into(),
        path: "childEntity".into(),
        select_set: vec![castile::Recursive::new(to("from folders")), castile::Recursive::new(to("from centers"))],
        ..Default::default()
    };
    let from_centers = TraversalSpec {
        name: Some("from centers".into()),
        r#type: "Datacenter".into(),
        path: "vmFolder".into(),
        select_set: vec![castile::Recursive::new(to("from folders"))],
        ..Default::default()
    };
    specification(folder, vec![from_folders.into(), from_centers.into()], &["name"])
}

fn specification(
    from: &ManagedObjectReference,
    select_set: Vec<SelectionSpecOrDerived>,
    properties: &[&str],
) -> PropertyFilterSpec {
    PropertyFilterSpec {
        prop_set: vec![PropertySpec {
            r#type: "VirtualMachine".into(),
            path_set: properties.iter().map(|&name| name.into()).collect(),
            ..Default::default()
        }],
        object_set: vec![ObjectSpec { obj: from.clone(), skip: Some(true), select_set }],
        ..Default::default()
    }
}

/// Retrieves two objects at a time, so that several pages are needed.
async fn retrieve(
    client: &VimPortTypeClient,
    collector: &ManagedObjectReference,
    spec: PropertyFilterSpec,
) -> Result<Vec<ObjectContent>, Box<dyn Error>> {
    let request = RetrievePropertiesExRequestType {
        this: collector.clone(),
        spec_set: vec![spec],
        options: RetrieveOptions { max_objects: Some(2) },
    };
    let answer = client.retrieve_properties_ex(&request).await?;
    let Some(mut page) = answer.returnval else { return Ok(Vec::new()) };
    let mut objects = page.objects;
    while let Some(token) = page.token {
        let request = ContinueRetrievePropertiesExRequestType { this: collector.clone(), token };
        page = client.continue_retrieve_properties_ex(&request).await?.returnval;
        objects.append(&mut page.objects);
    }
    objects.sort_by(|one, other| one.obj.value.cmp(&other.obj.value));
    Ok(objects)
}

/// Returns what changed since a version, or `None` if nothing did within ten seconds.
async fn updates(
    client: &VimPortTypeClient,
    collector: &ManagedObjectReference,
    version: Option<String>,
) -> Result<Option<UpdateSet>, Box<dyn Error>> {
    let request = WaitForUpdatesExRequestType {
        this: collector.clone(),
        version,
        options: Some(WaitOptions { max_wait_seconds: Some(10), ..Default::default() }),
    };
    Ok(client.wait_for_updates_ex(&request).await?.returnval)
}

fn changed(updates: &UpdateSet) -> impl Iterator<Item = &ObjectUpdate> {
    updates.filter_set.iter().flat_map(|filter| &filter.object_set)
}

/// Returns a value of any type as text.
fn told(value: &AnyType) -> Result<String, Box<dyn Error>> {
    let name = value.type_name.as_ref().map_or("", |name| &name.local);
    let told = match name {
        "ArrayOfVirtualDevice" => {
            let devices = value.read::<ArrayOfVirtualDevice>()?.virtual_device;
            devices.iter().filter_map(device).collect::<Vec<_>>().join(", ")
        }
        "ArrayOfManagedObjectReference" => {
            let references = value.read::<ArrayOfManagedObjectReference>()?.managed_object_reference;
            references.into_iter().filter_map(|reference| reference.r#type).collect::<Vec<_>>().join(", ")
        }
        "VirtualMachineRuntimeInfo" => {
            let runtime = value.read::<VirtualMachineRuntimeInfo>()?;
            format!("{} and {}", runtime.connection_state, runtime.power_state)
        }
        "int" => value.read::<i32>()?.to_string(),
        "boolean" => value.read::<bool>()?.to_string(),
        _ => value.text(),
    };
    Ok(format!("{told} ({name})"))
}

/// Returns the text for devices of some kinds.
fn device(device: &VirtualDeviceOrDerived) -> Option<String> {
    use VirtualDeviceBackingInfoOrDerived::VirtualDiskFlatVer2BackingInfo;
    match device {
        VirtualDeviceOrDerived::VirtualDisk(disk) => {
            let is_thin = match &disk.backing {
                Some(VirtualDiskFlatVer2BackingInfo(backing)) => backing.thin_provisioned == Some(true),
                _ => false,
            };
            Some(format!("a {}disk of {} KB", if is_thin { "thin " } else { "" }, disk.capacity_in_kb))
        }
        VirtualDeviceOrDerived::VirtualE1000(_) => Some("a network card".to_owned()),
        VirtualDeviceOrDerived::Other(value) => Some(format!("{:?}", value.type_name)),
        _ => None,
    }
}

/// Returns the type of a fault that the operation doesn't declare.
fn kind<D>(fault: &Fault<D>) -> Option<String> {
    let Detail::Other(xml) = &fault.detail else { return None };
    let detail = Any::parse(xml).ok()?.read::<AnyType>().ok()?;
    detail.type_name.map(|name| name.local)
}

fn reference(r#type: &str, value: &str) -> ManagedObjectReference {
    ManagedObjectReference { value: value.into(), r#type: Some(r#type.into()) }
}
