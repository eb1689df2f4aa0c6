using System.Net;
using System.Net.Sockets;
using Rookery.Cluster.Forming;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Membership;
using Rookery.Cluster.Peers;
using Rookery.Cluster.Tests.Joining;
using Rookery.Cluster.Tests.Peers;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Forming;

/// <summary>The rounds of a node that forms a cluster: it calls the announced nodes.</summary>
public sealed class FormingLoopTests : IDisposable
{
    private const string Phrase = "correct horse battery";

    private readonly TestCluster _cluster = new();
    private readonly SimulatedDisk _disk = new("/data");
    private readonly List<AnnouncedNode> _announced = [];
    private string? _phraseTrouble;
    private string? _browseTrouble;

    public void Dispose() => _cluster.Dispose();

    [Fact]
    public async Task A_failed_round_of_forming_is_reported_and_retried()
    {
        (_phraseTrouble, _browseTrouble) = ("The phrase cannot be read.", "There is no avahi-browse here.");
        await using var loop = Start();
        await AwaitStatusAsync(loop, "This node could not go on to form a cluster: The phrase cannot be read.");
        _phraseTrouble = null;
        await AwaitStatusAsync(loop, "This node could not go on to form a cluster: There is no avahi-browse here.");
        _browseTrouble = null;
        await AwaitStatusAsync(
            loop,
            "This node waits to form the cluster home of 3. It sees nobody; 2 more are missing."
        );
    }

    [Fact]
    public async Task A_node_that_forms_another_cluster_is_named_in_the_status()
    {
        _announced.Add(
            new AnnouncedNode("strangenodestrangenode", "pi-9", "stranger", "192.0.2.9:9443", FormingMark: "ffff")
        );
        _announced.Add(
            new AnnouncedNode("strangenodestrangenode", "pi-9", "stranger", "192.0.2.8:9443", FormingMark: "ffff")
        );
        await using var loop = Start();
        await AwaitStatusAsync(
            loop,
            "This node waits to form the cluster home of 3. It sees nobody; 2 more are missing. pi-9 at "
                + "192.0.2.8:9443 forms another cluster than this node: it has another phrase, or another name for "
                + "the cluster."
        );
        _announced.Clear();
        await Eventually.HoldsAsync(
            () =>
            {
                _cluster.Time.Advance(TimeSpan.FromSeconds(1));
                return loop.Status
                    is "This node waits to form the cluster home of 3. It sees nobody; 2 more are missing.";
            },
            "the stranger is forgotten"
        );
    }

    [Fact]
    public async Task A_failed_write_of_the_note_does_not_end_forming()
    {
        _disk.Inject(new DiskFault(AtCall: 1, Errno.NoSpace) { Calls = DiskCalls.Changing, Sticky = true });
        await using var loop = Start(isUnclaimed: false);
        await AwaitStatusAsync(loop, "This node could not go on to form a cluster: ");
        _disk.ClearFaults();
        await AwaitStatusAsync(loop, "This node forms no cluster: it was claimed");
    }

    [Fact]
    public async Task A_node_calls_a_limited_number_of_announced_strangers()
    {
        using var stranger = new TcpListener(IPAddress.Any, 0);
        stranger.Start();
        int port = ((IPEndPoint)stranger.LocalEndpoint).Port,
            calls = 0;
        // Accepts each call, and ends it at once.
        var hangingUp = Task.Run(async () =>
        {
            while (true)
            {
                using var call = await stranger.AcceptSocketAsync();
                Interlocked.Increment(ref calls);
            }
        });
        // One stranger announces a hundred addresses, and a hundred others one each.
        string mark = FormingPhrase.Derive(Phrase, "home").Mark;
        _announced.AddRange(
            Enumerable
                .Range(1, 100)
                .Select(index => new AnnouncedNode(
                    "strangenodestrangenode",
                    "pi-9",
                    "stranger",
                    $"127.0.1.{index}:{port}",
                    mark
                ))
        );
        _announced.AddRange(
            Enumerable
                .Range(1, 100)
                .Select(index => new AnnouncedNode(
                    $"strangenode{index}",
                    "pi-9",
                    "stranger",
                    $"127.0.2.{index}:{port}",
                    mark
                ))
        );
        await using (var loop = Start())
        {
            await Eventually.HoldsAsync(() => loop.Status is not null, "a round is done");
        }

        // A round calls at most 32 nodes: here one with many addresses and 31 with one address each.
        Assert.InRange(calls, 1, MemberAddress.MaxAddresses + 31);
        stranger.Stop();
        await Assert.ThrowsAnyAsync<Exception>(() => hangingUp);
    }

    /// <summary>Starts to form a cluster of three nodes.</summary>
    private FormingLoop Start(bool isUnclaimed = true)
    {
        var options = new FormingOptions
        {
            Expect = 3,
            ReadPhrase = () => _phraseTrouble is null ? Phrase : throw new IOException(_phraseTrouble),
            Announce = static _ => { },
            Admitted = static () => { },
        };
        var member = new ClusterMemberOptions
        {
            DataDirectory = "/data",
            Listen = new IPEndPoint(IPAddress.Loopback, 1),
            Addresses = static () => [],
            ClientUrls = static () => [],
            IsClockSynchronised = static () => true,
            Browse = _ =>
                _browseTrouble is null
                    ? Task.FromResult<IReadOnlyList<AnnouncedNode>>([.. _announced])
                    : throw new IOException(_browseTrouble),
            Log = static _ => { },
            Note = static _ => { },
        };
        var loop = new FormingLoop(
            options,
            _cluster.Identity,
            _disk,
            member,
            _cluster.RecordStore,
            () => isUnclaimed,
            () => PeerTrust.Of(_cluster.Identity),
            _cluster.Tokens,
            static () => [],
            _cluster.Time
        );
        loop.Start();
        return loop;
    }

    /// <summary>Lets time pass until the status begins with a text.</summary>
    private Task AwaitStatusAsync(FormingLoop loop, string beginning) =>
        Eventually.HoldsAsync(
            () =>
            {
                _cluster.Time.Advance(TimeSpan.FromSeconds(1));
                return loop.Status?.StartsWith(beginning, StringComparison.Ordinal) is true;
            },
            $"the status begins with '{beginning}'"
        );
}
