using System.IO.Pipelines;
using System.Net;
using System.Net.Sockets;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Peers;
using Rookery.Cluster.Tests.Identity;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>Refused connections, and the message that both ends log.</summary>
public sealed class PeerRefusalTests : IDisposable
{
    private readonly ClusterAuthority _authority = TestAuthority.Create();
    private readonly ClusterAuthority _other = TestAuthority.Create();

    public void Dispose()
    {
        _authority.Dispose();
        _other.Dispose();
    }

    [Fact]
    public async Task A_certificate_of_another_authority_is_refused()
    {
        var believing = new PeerTrust(
            TestMember.TrustOf(_other, "B2")().Certificate,
            new PeerCertificateRule([_authority.Certificate, _other.Certificate], TestAuthority.ClusterId)
        );
        await using var a = await StartAsync("A1");
        await using var b = await TestMember.StartAsync(TestMember.Hello("B2"), () => believing);
        MakePeers(a, b);
        await AwaitLoggedByBothAsync(a, b, "was not signed by this cluster's authority");
    }

    [Fact]
    public async Task Another_cluster_is_refused()
    {
        await using var a = await StartAsync("A1");
        await using var b = await TestMember.StartAsync(
            TestMember.Hello("B2", "another"),
            TestMember.TrustOf(_authority, "B2")
        );
        MakePeers(a, b);
        await AwaitLoggedByBothAsync(
            a,
            b,
            "Node B2 belongs to cluster another, and node A1 to cluster " + TestAuthority.ClusterId
        );
    }

    [Fact]
    public async Task Another_nodes_certificate_is_refused()
    {
        await using var a = await StartAsync("A1");
        await using var b = await TestMember.StartAsync(TestMember.Hello("B2"), TestMember.TrustOf(_authority, "C3"));
        MakePeers(a, b);
        await AwaitLoggedByBothAsync(a, b, "Node B2 came with the certificate of node C3");
    }

    [Fact]
    public async Task Another_node_at_the_address_is_refused()
    {
        await using var a = await StartAsync("A1");
        await using var c = await StartAsync("C3");
        a.Network.SetPeers([new PeerAddress(Members.IdOf("B2"), c.Address.Addresses)]);
        await Eventually.HoldsAsync(
            () => a.HasLogged("Node C3 answers there instead of the expected one"),
            "A logs which node answers there"
        );
        Assert.False(a.IsConnectedToAll);
    }

    /// <summary>The wanted member, B2, may be off.</summary>
    [Fact]
    public async Task The_refusal_of_another_node_at_the_address_does_not_count()
    {
        await using var a = await StartAsync("A1");
        await using var c = await StartAsync("C3");
        c.Admission.Refused["A1"] = "Not now.";
        a.Network.SetPeers([new PeerAddress(Members.IdOf("B2"), c.Address.Addresses)]);
        await Eventually.HoldsAsync(
            () => a.HasLogged("Node C3 answers there instead of the expected one. It refused this node: Not now."),
            "A logs which node answers there"
        );
        Assert.Null(Assert.Single(a.Network.Answers).Refusal);
    }

    /// <summary>
    /// Each configured member is looked for at all configured addresses. Another member that answers there must not
    /// mistake the attempt for a second connection to itself.
    /// </summary>
    [Fact]
    public async Task Another_node_at_the_address_keeps_its_existing_connection()
    {
        await using var a = await StartAsync("A1");
        await using var c = await StartAsync("C3");
        a.Network.SetPeers([c.Address]);
        await Eventually.HoldsAsync(() => a.IsConnectedToAll, "A is connected to C");
        var before = a.Network.Status().Single();
        a.Network.SetPeers([c.Address, new PeerAddress(Members.IdOf("B2"), c.Address.Addresses)]);
        await Eventually.HoldsAsync(() => a.Network.AttemptsAt(Members.IdOf("B2")).Count == 1, "A looked for B there");
        await Eventually.HoldsAsync(
            () => a.HasLogged("Node C3 answers there instead of the expected one"),
            "A logs which node answers there"
        );
        Assert.Equal(before, a.Network.Status().Single(peer => peer.Node == c.Node));
        Assert.DoesNotContain(c.Log, static sentence => sentence.Contains("called again", StringComparison.Ordinal));
    }

    /// <summary>
    /// The server cancels its work for an ended connection, possibly before it reads the end of the stream.
    /// </summary>
    [Fact]
    public async Task Another_node_at_the_address_does_not_log_that_the_caller_hung_up()
    {
        await using var c = await StartAsync("C3");
        using var ended = new CancellationTokenSource();
        var serving = c.Network.AcceptAsync(
            new IncomingStream(new Pipe().Reader.AsStream(), new PeerVerdict("A1", null), IPAddress.Loopback),
            ended.Token
        );
        await ended.CancelAsync();
        await serving;
        Assert.Empty(c.Log);
    }

    [Fact]
    public async Task Another_node_at_the_address_is_named_with_the_tried_address()
    {
        await using var a = await StartAsync("A1");
        await using var c = await StartAsync("C3");
        await using var foreign = await TestMember.StartAsync(TestMember.Hello("C3"), TestMember.TrustOf(_other, "C3"));
        a.Network.NameOf = node => node == c.Node ? "pi-3 (C)" : null;
        string nowhere = $"127.0.0.1:{TestMember.FreePort()}";
        var sought = new PeerAddress(
            Members.IdOf("B2"),
            [nowhere, .. c.Address.Addresses, .. foreign.Address.Addresses]
        );
        a.Network.SetPeers([sought]);
        await Eventually.HoldsAsync(() => a.Network.AttemptsAt(sought.Node).Count == 3, "A tried all three addresses");
        var attempts = a.Network.AttemptsAt(sought.Node);
        Assert.Equal(sought.Addresses, attempts.Select(static attempt => attempt.Address));
        Assert.Equal([false, false, true], attempts.Select(static attempt => attempt.IsStranger));
        Assert.Equal(
            ("Connection refused", "Node pi-3 (C) answers there instead of the expected one."),
            (attempts[0].Why, attempts[1].Why)
        );
    }

    /// <summary>The bulk connection gets the refusal too, and not the error that another node answers.</summary>
    [Theory]
    [InlineData(LinkKind.Control)]
    [InlineData(LinkKind.Bulk)]
    public async Task A_removed_member_is_refused_by_the_member_that_it_dials(LinkKind kind)
    {
        await using var a = await StartAsync("A1");
        a.Admission.Kind = PeerRefusalKind.NoMember;
        a.Admission.Refused["B2"] = "Node B2 is not a member of this cluster (any more).";
        var hello = TestMember.Hello("B2");
        var dialer = new PeerDialer(
            hello,
            TestMember.TrustOf(_authority, "B2"),
            new PeerGate(hello, new TestAdmission(), static _ => null, TimeProvider.System),
            static (_, _) => true,
            static _ => null,
            TimeProvider.System,
            memory: null
        );
        var refused = await Assert.ThrowsAsync<PeerRefusedException>(() =>
            dialer.DialAsync(a.Node, a.Address.Addresses[0], kind, CancellationToken.None)
        );
        Assert.Equal(PeerRefusalKind.NoMember, refused.Refusal.Kind);
    }

    /// <summary>The retired member's port still listens, to report why it takes no part.</summary>
    [Fact]
    public async Task A_retired_member_refuses_connections()
    {
        await using var a = await StartAsync("A1");
        await using var b = await StartAsync("B2");
        MakePeers(a, b);
        await Eventually.HoldsAsync(() => b.IsConnectedToAll, "B is connected");
        await a.Network.DisposeAsync();
        await Eventually.HoldsAsync(
            () => b.HasLogged("It refused this node: It takes no part in the cluster any more"),
            "B knows of the refusal"
        );
        await Eventually.HoldsAsync(
            () => Assert.Single(b.Network.Answers) is { LetsIn: false, Refusal.Kind: PeerRefusalKind.Passing },
            "A counts as a member that does not let B in"
        );
        Assert.False(a.HasLogged("takes no part"));
    }

    [Fact]
    public async Task A_member_that_is_removed_while_connected_is_disconnected()
    {
        var members = await TestMember.StartAllAsync(_authority, "A1", "B2");
        await using var a = members[0];
        await using var b = members[1];
        a.Admission.Refused["B2"] = "Node B2 was removed from this cluster.";
        await AwaitLoggedByBothAsync(a, b, "Node B2 was removed from this cluster.");
        await Eventually.HoldsAsync(() => !a.IsConnectedToAll && !b.IsConnectedToAll, "the connections end");
    }

    /// <summary>The removed member does not learn of its removal from the log: it no longer receives entries.</summary>
    [Fact]
    public async Task A_member_that_was_removed_while_it_was_off_is_refused()
    {
        await using var a = await StartAsync("A1");
        await using var b = await StartAsync("B2");
        a.Admission.Kind = PeerRefusalKind.NoMember;
        a.Admission.Refused["B2"] = "Node B2 is not a member of this cluster (any more).";
        MakePeers(a, b);
        var refused = new PeerAnswer(
            Members.IdOf("A1"),
            LetsIn: false,
            new PeerRefusal("Node B2 is not a member of this cluster (any more).", PeerRefusalKind.NoMember)
        );
        await Eventually.HoldsAsync(() => Assert.Single(b.Network.Answers) == refused, "B knows of the refusal");
        Assert.Null(Assert.Single(a.Network.Answers).Refusal);
        a.Admission.Refused.Clear();
        await Eventually.HoldsAsync(
            () =>
                b.IsConnectedToAll
                && Assert.Single(b.Network.Answers) == refused with { LetsIn = true, Refusal = null },
            "the refusal is forgotten after a connection"
        );
    }

    [Fact]
    public async Task The_refusal_of_a_member_that_is_off_does_not_last()
    {
        await using var b = await StartAsync("B2");
        await using (var a = await StartAsync("A1"))
        {
            a.Admission.Kind = PeerRefusalKind.NoMember;
            a.Admission.Refused["B2"] = "Node B2 is not a member of this cluster (any more).";
            MakePeers(a, b);
            await Eventually.HoldsAsync(
                () => Assert.Single(b.Network.Answers).Refusal is not null,
                "B knows of the refusal"
            );
        }

        await Eventually.HoldsAsync(() => Assert.Single(b.Network.Answers).Refusal is null, "the refusal is forgotten");
    }

    [Fact]
    public async Task An_old_copy_of_a_store_is_refused()
    {
        await using var a = await StartAsync("A1");
        await using (var b = await StartAsync("B2"))
        {
            MakePeers(a, b);
            await Eventually.HoldsAsync(() => a.IsConnectedToAll, "B is connected");
        }

        await using var old = await TestMember.StartAsync(
            TestMember.Hello("B2") with
            {
                StartNumber = 4,
            },
            TestMember.TrustOf(_authority, "B2")
        );
        MakePeers(a, old);
        await AwaitLoggedByBothAsync(
            a,
            old,
            "This is an old copy of node B2: its store was started 4 times, but the cluster has already seen start 5."
        );
    }

    [Fact]
    public async Task A_second_running_copy_is_refused()
    {
        var members = await TestMember.StartAllAsync(_authority, "A1", "B2");
        await using var a = members[0];
        await using var b = members[1];
        await using var twin = await StartAsync("B2");
        twin.Network.SetPeers([a.Address]);
        await Eventually.HoldsAsync(
            () => a.HasLogged("There are two copies of node B2") && twin.HasLogged("There are two copies of node B2"),
            "A and the copy log that there are two copies"
        );
        Assert.True(a.IsConnectedToAll && b.IsConnectedToAll);
    }

    /// <summary>Starts of a copy also count: one more start must not let the copy replace the original.</summary>
    [Fact]
    public async Task A_copy_that_was_started_more_often_is_refused()
    {
        var members = await TestMember.StartAllAsync(_authority, "A1", "B2");
        await using var a = members[0];
        await using var b = members[1];
        await using var copy = await TestMember.StartAsync(
            TestMember.Hello("B2") with
            {
                StartNumber = 9,
            },
            TestMember.TrustOf(_authority, "B2")
        );
        string? excluded = null;
        copy.Network.Excluded = why => Volatile.Write(ref excluded, why);
        copy.Network.SetPeers([a.Address]);
        await Eventually.HoldsAsync(() => Volatile.Read(ref excluded) is not null, "the copy is told that it is one");
        Assert.Contains("There are two copies of node B2", excluded, StringComparison.Ordinal);
        Assert.True(a.IsConnectedToAll && b.IsConnectedToAll);
    }

    /// <summary>The original has only incoming connections here, so it must be pinged over them.</summary>
    [Fact]
    public async Task A_copy_of_a_member_that_dials_and_is_not_dialled_is_refused()
    {
        await using var a = await StartAsync("A1");
        await using var b = await StartAsync("B2");
        string? original = null;
        b.Network.Excluded = why => Volatile.Write(ref original, why);
        b.Network.SetPeers([a.Address]);
        await Eventually.HoldsAsync(() => b.IsConnectedToAll, "the original is connected");
        await using var copy = await TestMember.StartAsync(
            TestMember.Hello("B2") with
            {
                StartNumber = 9,
            },
            TestMember.TrustOf(_authority, "B2")
        );
        string? excluded = null;
        copy.Network.Excluded = why => Volatile.Write(ref excluded, why);
        copy.Network.SetPeers([a.Address]);
        await Eventually.HoldsAsync(
            () => Volatile.Read(ref excluded) is not null || Volatile.Read(ref original) is not null,
            "one of the two is told that it is a copy"
        );
        Assert.Null(Volatile.Read(ref original));
        Assert.True(b.IsConnectedToAll);
    }

    /// <summary>
    /// The kernel of a killed process continues to send what it had written. Neither those bytes nor a late answer to
    /// an earlier ping makes the next start a copy.
    /// </summary>
    [Fact]
    public async Task A_restart_is_admitted_while_bytes_of_the_earlier_start_still_arrive()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        await using var a = await StartAsync("A1");
        var trust = TestMember.TrustOf(_authority, "B2");
        var before = TestMember.Hello("B2") with { StartId = 1, Kind = LinkKind.Control };
        a.Network.SetPeers([
            new PeerAddress(before.Member, [$"127.0.0.1:{((IPEndPoint)listener.LocalEndpoint).Port}"]),
        ]);
        await using var dialled = await MeetAsync(listener, trust(), before);
        await using var incoming = await RawPeer.DialAsync(a.Port, trust());
        await incoming.SayHelloAsync(before);
        var question = await dialled.ReceiveAsync();

        await using var restarted = await TestMember.StartAsync(before with { StartNumber = 6, StartId = 2 }, trust);
        string? excluded = null;
        restarted.Network.Excluded = why => Volatile.Write(ref excluded, why);
        restarted.Network.SetPeers([a.Address]);
        using var tick = new PeriodicTimer(TimeSpan.FromMilliseconds(100));
        for (int round = 0; round < 300 && !restarted.IsConnectedToAll && Volatile.Read(ref excluded) is null; round++)
        {
            await dialled.SendAsync(PacketKind.Pong, question!.Value.Body);
            await incoming.SendAsync(PacketKind.Ping, []);
            await tick.WaitForNextTickAsync();
        }

        Assert.Null(Volatile.Read(ref excluded));
        Assert.True(restarted.IsConnectedToAll);
    }

    /// <summary>
    /// A disk from the time when its node was single connects to no member and refuses their connections. It learns
    /// from them that it is old.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_old_copy_that_dials_nobody_learns_that_it_is_old(bool knowsNobody)
    {
        await using var old = await StartAsync("A1");
        await using var b = await StartAsync("B2");
        string? excluded = null;
        old.Network.Excluded = why => Volatile.Write(ref excluded, why);
        b.Network.Excluded = _ => Assert.Fail("B is the member");
        if (knowsNobody)
        {
            old.Admission.Kind = PeerRefusalKind.NoMember;
            old.Admission.Refused["B2"] = "Node B2 is not a member of this cluster (any more).";
        }

        b.Admission.Kind = PeerRefusalKind.ForGood;
        b.Admission.Refused["A1"] = "This is an old copy of node A1.";
        b.Network.SetPeers([old.Address]);
        await Eventually.HoldsAsync(
            () => Volatile.Read(ref excluded) is not null,
            "the old copy is told that it is one"
        );
        Assert.Equal("This is an old copy of node A1.", excluded);
        Assert.Null(Assert.Single(b.Network.Answers).Refusal);
    }

    /// <summary>The address belonged to another member before that member moved.</summary>
    [Fact]
    public async Task A_node_that_dials_itself_records_no_refusal()
    {
        await using var a = await StartAsync("A1");
        a.Network.NameOf = static _ => "pi-2";
        var b = TestMember.Hello("B2").Member;
        a.Network.SetPeers([new PeerAddress(b, [a.Address.Addresses[0]])]);
        await Eventually.HoldsAsync(
            () =>
                a.Log.Any(static told =>
                    told.StartsWith("Node pi-2 was not reached at 127.0.0.1:", StringComparison.Ordinal)
                    && told.Contains("called itself", StringComparison.Ordinal)
                ),
            "A logs that it called itself"
        );
        Assert.Null(Assert.Single(a.Network.Answers).Refusal);
    }

    /// <summary>
    /// A node that this node refuses may in turn refuse this node only if it was refused as no member.
    /// </summary>
    [Fact]
    public async Task A_refusal_by_a_node_that_is_itself_refused_does_not_count()
    {
        await using var a = await StartAsync("A1");
        string? excluded = null;
        a.Network.Excluded = why => Volatile.Write(ref excluded, why);
        a.Admission.Refused["B2"] = "The store of node B2 is not the one that the cluster knows.";
        foreach (
            var (hello, trust) in new[]
            {
                (TestMember.Hello("B2"), TestMember.TrustOf(_authority, "B2")),
                (TestMember.Hello("B2"), TestMember.TrustOf(_authority, "C3")),
                (TestMember.Hello("C3"), TestMember.TrustOf(_other, "C3")),
                (TestMember.Hello("C3", "another"), TestMember.TrustOf(_authority, "C3")),
            }
        )
        {
            await using var raw = await RawPeer.DialAsync(a.Port, trust());
            await raw.SayHelloAsync(hello with { Kind = LinkKind.Control });
            await raw.SendAsync(PacketKind.RefusalForGood, "There are two copies of node A1."u8.ToArray());
            Assert.NotNull(await raw.ReadToEndAsync());
        }

        Assert.Null(excluded);
    }

    [Fact]
    public async Task Another_version_of_the_protocol_is_refused()
    {
        await using var a = await StartAsync("A1");
        await using var raw = await RawPeer.DialAsync(a.Port, TestMember.TrustOf(_authority, "B2")());
        byte[] hello = RawPeer.Encode(TestMember.Hello("B2") with { Kind = LinkKind.Control });
        const int versionOffset = 4;
        hello[versionOffset]++;
        await raw.SendAsync(PacketKind.Hello, hello);
        Assert.Equal(
            "Node B2 speaks version 2 of the protocol between members, and the node that says this speaks "
                + "version 1: upgrade the node that says this.",
            await raw.ReadToEndAsync()
        );
    }

    [Fact]
    public async Task An_expired_certificate_of_a_member_is_accepted()
    {
        await using var a = await TestMember.StartAsync(
            TestMember.Hello("A1"),
            TestMember.TrustOf(_authority, "A1", DateTimeOffset.UnixEpoch)
        );
        await using var b = await TestMember.StartAsync(
            TestMember.Hello("B2"),
            TestMember.TrustOf(_authority, "B2", TestAuthority.Now.AddYears(-5))
        );
        MakePeers(a, b);
        await Eventually.HoldsAsync(
            () => a.IsConnectedToAll && b.IsConnectedToAll,
            "a cluster that was off for years comes back"
        );
    }

    /// <summary>A renewed certificate and a new authority count in the next handshake, without a restart.</summary>
    [Fact]
    public async Task A_certificate_of_an_authority_added_since_the_start_is_accepted()
    {
        var trust = TestMember.TrustOf(_authority, "A1")();
        await using var a = await TestMember.StartAsync(TestMember.Hello("A1"), () => Volatile.Read(ref trust));
        var rule = new PeerCertificateRule([_authority.Certificate, _other.Certificate], TestAuthority.ClusterId);
        var renewed = new PeerTrust(TestMember.TrustOf(_other, "B2")().Certificate, rule);
        await using var b = await TestMember.StartAsync(TestMember.Hello("B2"), () => renewed);
        MakePeers(a, b);
        await Eventually.HoldsAsync(
            () => a.HasLogged("was not signed by this cluster's authority"),
            "A refuses the new authority's certificate"
        );
        Volatile.Write(ref trust, trust with { Rule = rule });
        await Eventually.HoldsAsync(() => a.IsConnectedToAll && b.IsConnectedToAll, "A accepts that certificate");
    }

    /// <summary>Accepts connections until one has the hello's kind; closes the others.</summary>
    private static async Task<RawPeer> MeetAsync(TcpListener listener, PeerTrust trust, PeerHello hello)
    {
        while (true)
        {
            var raw = await RawPeer.AcceptAsync(listener, trust);
            if (
                await raw.ReceiveAsync() is { Kind: PacketKind.Hello } greeting
                && PeerHello.Read(greeting.Body).Kind == hello.Kind
            )
            {
                await raw.SayHelloAsync(hello);
                return raw;
            }

            await raw.DisposeAsync();
        }
    }

    /// <summary>Makes two members each other's peers.</summary>
    private static void MakePeers(TestMember a, TestMember b)
    {
        a.Network.SetPeers([b.Address]);
        b.Network.SetPeers([a.Address]);
    }

    private static Task AwaitLoggedByBothAsync(TestMember a, TestMember b, string sentence) =>
        Eventually.HoldsAsync(() => a.HasLogged(sentence) && b.HasLogged(sentence), $"both are told: {sentence}");

    private Task<TestMember> StartAsync(string node) =>
        TestMember.StartAsync(TestMember.Hello(node), TestMember.TrustOf(_authority, node));
}
