using System.Security;
using Microsoft.Extensions.Logging;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Server;
using Rookery.Server.Support;

namespace Rookery.Hosting.Machine;

/// <summary>
/// The mDNS announcement of the node: a service file of Avahi (avahi.service(5)) in $RUNTIME_DIRECTORY. systemd creates
/// that directory while the service runs. `rookery-announce.service` of the package copies the file to
/// /etc/avahi/services, where only root may write. Without systemd nothing is announced.
/// </summary>
internal sealed class ServiceAnnouncement
{
    /// <summary>It is not known yet whether the node has an owner, or its data cannot be opened.</summary>
    public const string Starting = "starting";

    /// <summary>The node has no owner: it waits to be claimed or to join a cluster.</summary>
    public const string Unclaimed = "unclaimed";

    /// <summary>The node belongs to a cluster that has an owner.</summary>
    public const string Member = "member";

    private const string FileName = "avahi.service";

    private readonly IDisk _disk;
    private readonly string _directory;
    private readonly NodeIds _ids;
    private readonly string _name;
    private readonly int _port;
    private readonly int _peerPort;
    private readonly ILogger _log;
    private readonly Lock _gate = new();
    private string? _state;
    private string? _mark;
    private string? _role;

    private ServiceAnnouncement(
        IDisk disk,
        string directory,
        NodeIds ids,
        string name,
        int port,
        int peerPort,
        ILogger log
    )
    {
        _disk = disk;
        _directory = directory;
        _ids = ids;
        _name = name;
        _port = port;
        _peerPort = peerPort;
        _log = log;
    }

    /// <summary>
    /// Creates the announcement of a member; returns null if the node has no identity or no $RUNTIME_DIRECTORY.
    /// </summary>
    public static ServiceAnnouncement? TryCreate(NodeSetting setting, ShownIdentity? identity) =>
        identity is not null && Environment.GetEnvironmentVariable("RUNTIME_DIRECTORY") is { Length: > 0 } directory
            ? new ServiceAnnouncement(
                setting.Disk,
                directory.Split(':')[0],
                identity.Ids,
                identity.Name,
                setting.Configuration.Listen.Port,
                setting.Configuration.PeerListen.Port,
                setting.Log
            )
            : null;

    /// <summary>Announces a new state. A failed write is only logged, because the node serves without it.</summary>
    public void SetState(string state)
    {
        lock (_gate)
        {
            _state = state;
            Write();
        }
    }

    /// <summary>
    /// Announces a mark that is equal on all nodes that form one cluster; null if this node forms no cluster.
    /// </summary>
    public void SetMark(string? mark)
    {
        lock (_gate)
        {
            UpdateIfChanged(ref _mark, mark);
        }
    }

    /// <summary>
    /// Announces whether the node votes; null if unknown. The leader is not announced: it changes often, and each
    /// announcement is written to the card.
    /// </summary>
    public void SetRole(bool? isVoter)
    {
        lock (_gate)
        {
            UpdateIfChanged(
                ref _role,
                isVoter switch
                {
                    null => null,
                    true => "voter",
                    false => "learner",
                }
            );
        }
    }

    // Writes the announcement again if the field has another value. Before the first state nothing is announced.
    private void UpdateIfChanged(ref string? announced, string? value)
    {
        bool isChanged = !string.Equals(announced, value, StringComparison.Ordinal);
        announced = value;
        if (isChanged && _state is not null)
        {
            Write();
        }
    }

    private void Write()
    {
        try
        {
            LocalAccess.Write(_disk, _directory, FileName, FormatService());
        }
        catch (DiskException refused)
        {
            _log.LogWarning(LogEvents.Unannounced, "Others do not find this node by mDNS: {Reason}", refused.Message);
        }
    }

    private string FormatService() =>
        $"""
            <?xml version="1.0" standalone="no"?>
            <!DOCTYPE service-group SYSTEM "avahi-service.dtd">
            <service-group>
              <name>{SecurityElement.Escape(_name)}</name>
              <service>
                <type>_rookery._tcp</type>
                <port>{_port}</port>
                <txt-record>cluster={_ids.ClusterId}</txt-record>
                <txt-record>node={_ids.NodeId}</txt-record>
                <txt-record>name={SecurityElement.Escape(_name)}</txt-record>
                <txt-record>version={ProductVersion.Text}</txt-record>
                <txt-record>state={_state}</txt-record>
                <txt-record>peers={_peerPort}</txt-record>{Optional("role", _role)}{Optional("forming", _mark)}
              </service>
            </service-group>

            """;

    private static string Optional(string name, string? text) =>
        text is null ? string.Empty : $"\n    <txt-record>{name}={text}</txt-record>";
}
