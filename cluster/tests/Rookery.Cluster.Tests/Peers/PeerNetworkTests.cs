using System.Collections.Concurrent;
using System.Net;
using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Membership;
using Rookery.Cluster.Peers;
using Rookery.Cluster.Tests.Identity;
using Rookery.Journal;
using Rookery.Raft;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>Real networks over TLS on loopback.</summary>
public sealed class PeerNetworkTests : IDisposable
{
    private readonly ClusterAuthority _authority = TestAuthority.Create();

    public void Dispose() => _authority.Dispose();

    /// <summary>
    /// The node was off while all others were replaced: a member that it does not know dials it, and it answers.
    /// </summary>
    [Fact]
    public async Task An_unknown_caller_is_dialled_where_it_listens()
    {
        int port = TestMember.FreePort();
        await using var old = await TestMember.StartAsync(
            TestMember.Hello("old"),
            TestMember.TrustOf(_authority, "old")
        );
        await using var replacement = await TestMember.StartAsync(
            TestMember.Hello("new") with
            {
                Port = port,
            },
            TestMember.TrustOf(_authority, "new"),
            port
        );
        Assert.Empty(old.Network.Callers());
        replacement.Network.SetPeers([old.Address]);
        await Eventually.HoldsAsync(() => old.Network.Callers().Count == 1, "the replacement has called");
        old.Network.SetPeers(MemberMaintenance.WithCallers(known: [], old.Network.Callers()));
        await Eventually.HoldsAsync(
            () => old.Network.Status() is [{ HasControl: true, HasBulk: true }],
            "the old node has called the replacement back"
        );
        Assert.Equal([$"127.0.0.1:{port}"], old.Network.AddressesOf(replacement.Node));
    }

    [Fact]
    public async Task A_member_that_has_not_started_yet_is_logged_as_a_note_first_and_as_trouble_later()
    {
        var time = new SimulatedTimeProvider();
        var (log, notes) = (new ConcurrentQueue<string>(), new ConcurrentQueue<string>());
        using var receiver = new TestReceiver();
        await using var network = new PeerNetwork(
            TestMember.Hello("A1"),
            TestMember.TrustOf(_authority, "A1"),
            new TestAdmission(),
            time,
            log.Enqueue,
            note: notes.Enqueue
        );
        network.Start(receiver);
        string address = $"127.0.0.1:{TestMember.FreePort()}";
        network.SetPeers([new PeerAddress(TestMember.Hello("B2").Member, [address])]);
        await Eventually.HoldsAsync(
            () => notes.Any(sentence => sentence.Contains($"was not reached at {address}", StringComparison.Ordinal)),
            "a failed call of the address is noted"
        );
        Assert.Empty(log);
        await Eventually.HoldsAsync(
            () =>
            {
                time.Advance(TimeSpan.FromSeconds(30));
                return log.Any(sentence =>
                    sentence.Contains($"was not reached at {address}", StringComparison.Ordinal)
                );
            },
            "the member's continued absence is logged as trouble"
        );
    }

    /// <summary>Reading the name from the records may fail. The member must be dialled nevertheless.</summary>
    [Fact]
    public async Task A_member_whose_name_cannot_be_read_is_dialled()
    {
        await using var a = await TestMember.StartAsync(TestMember.Hello("A1"), TestMember.TrustOf(_authority, "A1"));
        a.Network.NameOf = static _ => throw new InvalidOperationException("The records rot.");
        int port = TestMember.FreePort();
        a.Network.SetPeers([new PeerAddress(TestMember.Hello("B2").Member, [$"127.0.0.1:{port}"])]);
        await Eventually.HoldsAsync(
            () => a.HasLogged("could not be called: The records rot."),
            "A logs the failed call"
        );
        await using var b = await TestMember.StartAsync(
            TestMember.Hello("B2"),
            TestMember.TrustOf(_authority, "B2"),
            port
        );
        await Eventually.HoldsAsync(() => a.IsConnectedToAll, "A reaches B");
    }

    /// <summary>The moved member's connections come from 127.0.0.1, where it does not listen.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_member_that_listens_elsewhere_than_its_source_address_is_dialled_there(bool isKnown)
    {
        int port = TestMember.FreePort();
        await using var stayed = await TestMember.StartAsync(
            TestMember.Hello("stayed") with
            {
                FeatureLevel = PeerProtocol.FeatureLevel,
            },
            TestMember.TrustOf(_authority, "stayed")
        );
        await using var moved = await TestMember.StartAsync(
            TestMember.Hello("moved") with
            {
                Port = port,
            },
            TestMember.TrustOf(_authority, "moved"),
            port,
            listen: IPAddress.Parse("127.0.0.2")
        );
        string address = $"127.0.0.2:{port}";
        moved.Network.OwnAddresses = () => [address];
        if (isKnown)
        {
            stayed.Network.SetPeers([new PeerAddress(moved.Node, [$"127.0.0.1:{TestMember.FreePort()}"])]);
        }

        moved.Network.SetPeers([stayed.Address]);
        if (!isKnown)
        {
            await Eventually.HoldsAsync(
                () => stayed.Network.Callers() is [{ Addresses.Count: 2 }],
                "the moved member has sent its addresses"
            );
            stayed.Network.SetPeers(MemberMaintenance.WithCallers(known: [], stayed.Network.Callers()));
        }

        await Eventually.HoldsAsync(() => stayed.IsConnectedToAll, "the moved member is called back");
        Assert.Equal([address, $"127.0.0.1:{port}"], stayed.Network.AddressesOf(moved.Node)[..2]);
    }

    /// <summary>
    /// Each member has the address that another had before. The certificate tells which member answers.
    /// </summary>
    [Fact]
    public async Task Members_that_swapped_their_addresses_find_each_other()
    {
        await using var a = await StartAsync("A1");
        await using var b = await StartAsync("B2");
        await using var c = await StartAsync("C3");
        foreach (var member in new[] { a, b, c })
        {
            member.Network.OwnAddresses = () => member.Address.Addresses;
        }

        a.Network.SetPeers([
            new PeerAddress(b.Node, a.Address.Addresses),
            new PeerAddress(c.Node, b.Address.Addresses),
        ]);
        b.Network.SetPeers([
            new PeerAddress(a.Node, c.Address.Addresses),
            new PeerAddress(c.Node, b.Address.Addresses),
        ]);
        c.Network.SetPeers([
            new PeerAddress(a.Node, c.Address.Addresses),
            new PeerAddress(b.Node, a.Address.Addresses),
        ]);
        await Eventually.HoldsAsync(
            () => a.IsConnectedToAll && b.IsConnectedToAll && c.IsConnectedToAll,
            "all are connected"
        );

        Task<TestMember> StartAsync(string node) =>
            TestMember.StartAsync(
                TestMember.Hello(node) with
                {
                    FeatureLevel = PeerProtocol.FeatureLevel,
                },
                TestMember.TrustOf(_authority, node)
            );
    }

    /// <summary>An unknown packet would close the connection.</summary>
    [Fact]
    public async Task An_older_version_is_sent_no_addresses()
    {
        await using var older = await TestMember.StartAsync(
            TestMember.Hello("older") with
            {
                FeatureLevel = PeerProtocol.AddressesSince - 1,
            },
            TestMember.TrustOf(_authority, "older")
        );
        int port = TestMember.FreePort();
        await using var newer = await TestMember.StartAsync(
            TestMember.Hello("newer") with
            {
                Port = port,
                FeatureLevel = PeerProtocol.FeatureLevel,
            },
            TestMember.TrustOf(_authority, "newer"),
            port
        );
        newer.Network.OwnAddresses = () => ["127.0.0.2:9443"];
        newer.Network.SetPeers([older.Address]);
        await Eventually.HoldsAsync(
            () =>
            {
                newer.Network.Send(Samples.Message(new Random(1), MessageKind.Heartbeat, newer.Node, older.Node), []);
                return !older.Receiver.Messages.IsEmpty;
            },
            "a later message arrives on the same connection"
        );
        Assert.Equal([$"127.0.0.1:{port}"], Assert.Single(older.Network.Callers()).Addresses);
    }

    [Fact]
    public async Task Messages_arrive_in_order_and_frames_as_they_were()
    {
        var members = await TestMember.StartAllAsync(_authority, "A1", "B2", "C3");
        await using var a = members[0];
        await using var b = members[1];
        await using var c = members[2];
        const int Count = 500;
        const int Wave = 50; // fits the queue of a link, which drops what does not fit
        var sent = new List<(Message Message, JournalFrame[] Frames)>();
        var random = new Random(1);
        for (int i = 0; i < Count; i++)
        {
            var append = Samples.Append(random, a.Node, b.Node, out var frames) with { Sequence = i };
            sent.Add((append, frames));
            a.Network.Send(append, frames);
            a.Network.Send(Samples.Message(random, MessageKind.Heartbeat, a.Node, b.Node) with { Sequence = i }, []);
            c.Network.Send(Samples.Message(random, MessageKind.AppendReply, c.Node, b.Node) with { Sequence = i }, []);
            if (sent.Count % Wave == 0)
            {
                await Eventually.HoldsAsync(() => b.Receiver.Messages.Count == 3 * sent.Count, "all messages arrive");
            }
        }

        var appends = b.Receiver.Messages.Where(received => received.Message.Kind == MessageKind.Append).ToArray();
        Assert.Equal(sent.Select(append => append.Message), appends.Select(append => append.Message));
        for (int i = 0; i < Count; i++)
        {
            Samples.AssertEqual(sent[i].Frames, appends[i].Frames);
        }

        AssertInOrder(b, MessageKind.Heartbeat, a.Node, Count);
        AssertInOrder(b, MessageKind.AppendReply, c.Node, Count);
        Assert.Empty(a.Receiver.Messages);
        Assert.All(members, member => Assert.Empty(member.Log));
    }

    [Fact]
    public async Task A_batch_of_32_MiB_arrives()
    {
        var members = await TestMember.StartAllAsync(_authority, "A1", "B2");
        await using var a = members[0];
        await using var b = members[1];
        var frame = Samples.Frame(
            FrameType.Batch,
            index: 5,
            term: 3,
            operationsBefore: 10,
            operationCount: 2,
            Samples.Bytes(new Random(2), count: 32 << 20)
        );
        var append = Samples.Message(new Random(2), MessageKind.Append, a.Node, b.Node) with
        {
            Term = 9,
            Position = new LogPosition(Term: 2, Index: 4),
            LastIndex = 5,
        };
        a.Network.Send(append, [frame]);
        await Eventually.HoldsAsync(() => !b.Receiver.Messages.IsEmpty, "the append arrives");
        Samples.AssertEqual([frame], b.Receiver.Messages.Single().Frames);
    }

    /// <summary>A peer that stops reading frames costs no more than the limit, and still receives heartbeats.</summary>
    [Fact]
    public async Task Blocked_frames_delay_no_heartbeat_and_queue_no_more_bytes_than_their_bound()
    {
        var members = await TestMember.StartAllAsync(_authority, "A1", "B2");
        await using var a = members[0];
        await using var b = members[1];
        b.Receiver.Block();
        b.Receiver.StoresMessages = false;
        var frame = Samples.Frame(
            FrameType.Batch,
            index: 5,
            term: 3,
            operationsBefore: 10,
            operationCount: 2,
            Samples.Bytes(new Random(3), count: 1 << 20)
        );
        var append = Samples.Message(new Random(3), MessageKind.Append, a.Node, b.Node) with
        {
            Term = 9,
            Position = new LogPosition(Term: 2, Index: 4),
            LastIndex = 5,
        };
        for (int i = 0; i < 100; i++)
        {
            a.Network.Send(append, [frame]);
            Assert.InRange(a.Network.Status().Single().QueuedBytes, 0, (8 << 20) + (64 << 10));
        }

        Assert.InRange(a.Network.Status().Single().DroppedMessages, 50, 100);
        await Eventually.HoldsAsync(() => b.Receiver.Blocked == 1, "the first append is being handled");
        b.Receiver.StoresMessages = true;
        for (int i = 0; i < 50; i++)
        {
            a.Network.Send(
                Samples.Message(new Random(i), MessageKind.Heartbeat, a.Node, b.Node) with
                {
                    Sequence = i,
                },
                []
            );
            int awaited = i + 1;
            await Eventually.HoldsAsync(() => b.Receiver.Messages.Count == awaited, "a heartbeat arrives");
        }

        AssertInOrder(b, MessageKind.Heartbeat, a.Node, count: 50);
        b.Receiver.Unblock();
        await Eventually.HoldsAsync(() => a.Network.Status().Single().QueuedBytes == 0, "the queued appends are sent");
    }

    [Fact]
    public async Task A_restarted_member_is_connected_again_and_the_break_is_reported()
    {
        await using var a = await TestMember.StartAsync(TestMember.Hello("A1"), TestMember.TrustOf(_authority, "A1"));
        var trust = TestMember.TrustOf(_authority, "B2");
        var b = await TestMember.StartAsync(TestMember.Hello("B2"), trust);
        a.Network.SetPeers([b.Address]);
        await Eventually.HoldsAsync(() => a.IsConnectedToAll, "A reaches B");
        await b.DisposeAsync();
        await Eventually.HoldsAsync(() => a.Receiver.Unreachables == 2, "both broken connections are reported");
        Assert.False(a.IsConnectedToAll);

        await using var again = await TestMember.StartAsync(
            TestMember.Hello("B2") with
            {
                StartNumber = 6,
            },
            trust,
            b.Port
        );
        await Eventually.HoldsAsync(() => a.IsConnectedToAll, "A reaches B again");
        a.Network.Send(Samples.Message(new Random(4), MessageKind.Vote, a.Node, again.Node), []);
        await Eventually.HoldsAsync(() => again.Receiver.Messages.Count == 1, "a message arrives");
        Assert.Equal(2, a.Receiver.Unreachables);
    }

    /// <summary>A member that moved dials the others, and is dialled at its source address.</summary>
    [Fact]
    public async Task A_member_that_moved_is_found_because_it_dials_the_others()
    {
        int port = TestMember.FreePort();
        await using var a = await TestMember.StartAsync(TestMember.Hello("A1"), TestMember.TrustOf(_authority, "A1"));
        await using var b = await TestMember.StartAsync(
            TestMember.Hello("B2") with
            {
                Port = port,
            },
            TestMember.TrustOf(_authority, "B2"),
            port
        );
        a.Network.SetPeers([new PeerAddress(b.Node, ["127.0.0.1:1", "nonsense"])]);
        await Eventually.HoldsAsync(
            () => a.HasLogged("\"nonsense\" is not of the form host:port"),
            "all addresses of B were tried"
        );
        b.Network.SetPeers([a.Address]);
        await Eventually.HoldsAsync(() => a.IsConnectedToAll, "A reaches B");
    }

    [Fact]
    public async Task Members_that_are_no_longer_peers_are_disconnected()
    {
        var members = await TestMember.StartAllAsync(_authority, "A1", "B2");
        await using var a = members[0];
        await using var b = members[1];
        a.Network.SetPeers([]);
        a.Network.Send(Samples.Message(new Random(5), MessageKind.Vote, a.Node, b.Node), []);
        Assert.Empty(a.Network.Status());
        a.Network.SetPeers([b.Address]);
        await Eventually.HoldsAsync(() => a.IsConnectedToAll, "A reaches B again");
        Assert.Empty(b.Receiver.Messages);
        Assert.Equal(0, a.Receiver.Unreachables);
    }

    [Fact]
    public async Task An_HTTP_request_is_served_with_the_identity_of_its_certificate()
    {
        await using var a = await TestMember.StartAsync(TestMember.Hello("A1"), TestMember.TrustOf(_authority, "A1"));
        using var impostor = TestAuthority.Create();
        Assert.Equal("B2", await AskAsync(a.Port, TestMember.TrustOf(_authority, "B2")().Certificate));
        Assert.Contains(
            "was not signed by this cluster's authority",
            await AskAsync(a.Port, TestMember.TrustOf(impostor, "B2")().Certificate),
            StringComparison.Ordinal
        );
        Assert.Contains(
            "presented no certificate",
            await AskAsync(a.Port, certificate: null),
            StringComparison.Ordinal
        );
    }

    private static async Task<string> AskAsync(int port, SslStreamCertificateContext? certificate)
    {
        using var handler = new SocketsHttpHandler
        {
            SslOptions = new SslClientAuthenticationOptions
            {
                ClientCertificateContext = certificate,
                RemoteCertificateValidationCallback = static (_, presented, _, _) => presented is X509Certificate2,
            },
        };
        using var client = new HttpClient(handler);
        return await client.GetStringAsync(new Uri($"https://127.0.0.1:{port}/"));
    }

    private static void AssertInOrder(TestMember member, MessageKind kind, NodeId from, int count) =>
        Assert.Equal(
            Enumerable.Range(0, count).Select(number => (long)number),
            member
                .Receiver.Messages.Where(received => received.Message.Kind == kind && received.Message.From == from)
                .Select(received => received.Message.Sequence)
        );
}
