using System.Security;
using Microsoft.Extensions.Logging;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Server;
using Rookery.Server.Support;

namespace Rookery.Hosting.Machine;

/// <summary>
/// What the node says of itself by mDNS: a service file of Avahi (avahi.service(5)) in the directory that systemd gave
/// the service for the time that it runs ($RUNTIME_DIRECTORY). `rookery-announce.service` of the package carries it to
/// /etc/avahi/services, where only root may write. Without systemd nothing is announced.
/// </summary>
internal sealed class ServiceAnnouncement
{
    /// <summary>The node is not known to have an owner yet, or its data cannot be opened.</summary>
    public const string Starting = "starting";

    /// <summary>Nobody has claimed it: it waits for its owner, or to join a cluster.</summary>
    public const string Unclaimed = "unclaimed";

    /// <summary>It belongs to a cluster that has an owner.</summary>
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
    /// The announcement of a node of a cluster; null where it has no identity, or systemd gave no directory for it.
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

    /// <summary>
    /// Says that the node is in <paramref name="state"/>, from now on. What cannot be written is logged: the node
    /// serves without it.
    /// </summary>
    public void Tell(string state)
    {
        lock (_gate)
        {
            _state = state;
            Write();
        }
    }

    /// <summary>
    /// Says by what others that form a cluster with this node know it, from now on; null that it forms none.
    /// </summary>
    public void TellMark(string? mark)
    {
        lock (_gate)
        {
            TellIfNews(ref _mark, mark);
        }
    }

    /// <summary>
    /// Says whether the node votes, from now on; null that it is not known. Who leads is not said: it changes of
    /// itself, and what is announced is written to the card.
    /// </summary>
    public void TellRole(bool? isVoter)
    {
        lock (_gate)
        {
            TellIfNews(
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

    private void TellIfNews(ref string? what, string? said)
    {
        bool isNews = !string.Equals(what, said, StringComparison.Ordinal);
        what = said;
        if (isNews && _state is not null)
        {
            Write();
        }
    }

    private void Write()
    {
        try
        {
            LocalAccess.Write(_disk, _directory, FileName, Text());
        }
        catch (DiskException refused)
        {
            _log.LogWarning(LogEvents.Unannounced, "Others do not find this node by mDNS: {Reason}", refused.Message);
        }
    }

    private string Text() =>
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
