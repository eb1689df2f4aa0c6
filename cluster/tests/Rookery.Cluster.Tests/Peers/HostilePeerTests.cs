using System.Buffers.Binary;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Peers;
using Rookery.Cluster.Tests.Identity;
using Rookery.Documents.Consensus;
using Rookery.Raft;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>The behaviour of a broken or hostile member with a valid certificate.</summary>
public sealed class HostilePeerTests : IAsyncLifetime, IDisposable
{
    private readonly ClusterAuthority _authority = TestAuthority.Create();
    private TestMember _a = null!;
    private PeerTrust _trust = null!;

    public async Task InitializeAsync()
    {
        _a = await TestMember.StartAsync(TestMember.Hello("A1"), TestMember.TrustOf(_authority, "A1"));
        _trust = TestMember.TrustOf(_authority, "B2")();
    }

    public async Task DisposeAsync() => await _a.DisposeAsync();

    public void Dispose() => _authority.Dispose();

    [Fact]
    public async Task Garbage_instead_of_a_hello_closes_the_connection()
    {
        for (int seed = 0; seed < 20; seed++)
        {
            var random = new Random(seed);
            await using var raw = await RawPeer.DialAsync(_a.Port, _trust);
            if (seed % 2 == 0)
            {
                await raw.SendAsync(
                    PacketKind.Hello,
                    MessageCodecTests.Mangle(
                        random,
                        RawPeer.Encode(TestMember.Hello("B2") with { Kind = LinkKind.Bulk })
                    )
                );
            }
            else
            {
                await raw.SendAsync(Samples.Bytes(random, count: 100));
            }

            // The change may have left a valid hello; then the member is greeted.
            var answer = await raw.ReceiveAsync();
            Assert.True(
                answer is null || answer.Value.Kind == PacketKind.Refusal || seed % 2 == 0,
                $"seed {seed}: the answer to noise is {answer?.Kind}"
            );
        }

        await AssertServesAsync();
    }

    [Theory]
    [InlineData(LinkKind.Control, 0u)]
    [InlineData(LinkKind.Control, 5_000u)]
    [InlineData(LinkKind.Bulk, 41u << 20)]
    [InlineData(LinkKind.Bulk, uint.MaxValue)]
    public async Task A_packet_of_an_impossible_length_closes_the_connection(LinkKind kind, uint length)
    {
        await using var raw = await GreetAsync(kind);
        byte[] head = new byte[PeerProtocol.PacketHeadBytes];
        BinaryPrimitives.WriteUInt32LittleEndian(head, length);
        await raw.SendAsync(head);
        await raw.ReadToEndAsync();
        await Eventually.HoldsAsync(() => _a.HasLogged($"A packet of {length} bytes was announced"), "A logs it");
        await AssertServesAsync();
    }

    [Fact]
    public async Task Packets_that_do_not_decode_close_the_connection()
    {
        for (int seed = 0; seed < 30; seed++)
        {
            var random = new Random(seed);
            await using var raw = await GreetAsync(LinkKind.Bulk);
            var kind = (PacketKind)random.Next((int)PacketKind.Message, (int)PacketKind.ForwardInTerm);
            await raw.SendAsync(kind, Samples.Bytes(random, random.Next(8)));
            Assert.Null(await raw.ReadToEndAsync());
        }

        await AssertServesAsync();
    }

    [Fact]
    public async Task More_commands_than_may_be_in_flight_close_the_connection()
    {
        var never = new TaskCompletionSource<CommandOutcome>();
        int proposed = 0;
        _a.Receiver.Propose = (command, _) =>
        {
            command.Dispose();
            Interlocked.Increment(ref proposed);
            return new ValueTask<CommandOutcome>(never.Task);
        };
        await using var raw = await GreetAsync(LinkKind.Bulk);
        byte[] forward = new byte[(1 << 20) + sizeof(long)];
        // Twelve commands of 1 MiB, of which 8 MiB may be in flight.
        for (int i = 0; i < 12; i++)
        {
            await raw.SendAsync(PacketKind.Forward, forward);
        }

        await raw.ReadToEndAsync();
        await Eventually.HoldsAsync(() => _a.HasLogged("bytes of commands were forwarded at once"), "A logs it");
        Assert.InRange(Volatile.Read(ref proposed), 7, 8);
        never.SetResult(new CommandOutcome(new Rejection(RejectionKind.Stopping, "Stopping.")));
        await AssertServesAsync();
    }

    /// <summary>More connections than the port accepts: half of them in the handshake, half after it.</summary>
    [Fact]
    public async Task Silent_strangers_do_not_keep_members_from_connecting()
    {
        var strangers = new List<Stream>();
        try
        {
            for (int i = 0; i < 300; i++)
            {
                var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
                await socket.ConnectAsync(IPAddress.Loopback, _a.Port);
                strangers.Add(new NetworkStream(socket, ownsSocket: true));
                if (i % 2 == 0)
                {
                    var tls = new SslStream(strangers[i]);
                    strangers[i] = tls;
                    await tls.AuthenticateAsClientAsync(
                        new SslClientAuthenticationOptions
                        {
                            TargetHost = "a",
                            RemoteCertificateValidationCallback = static (_, certificate, _, _) =>
                                certificate is not null,
                        }
                    );
                }
            }

            await AssertServesAsync();

            // The oldest connection was closed to make room.
            await Assert.ThrowsAnyAsync<IOException>(() => strangers[1].ReadExactlyAsync(new byte[1]).AsTask());
        }
        finally
        {
            foreach (var stranger in strangers)
            {
                await stranger.DisposeAsync();
            }
        }
    }

    [Fact]
    public async Task Strangers_can_neither_flood_the_log_nor_forge_lines_in_it()
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        for (int i = 0; i < 40; i++)
        {
            var name = new X500DistinguishedNameBuilder();
            name.AddCommonName($"stranger {i}\nerror: all is lost{new string('x', 1000)}");
            using var own = new CertificateRequest(name.Build(), key, HashAlgorithmName.SHA256).CreateSelfSigned(
                TestAuthority.Now,
                TestAuthority.Now.AddYears(10)
            );
            await using var raw = await RawPeer.DialAsync(
                _a.Port,
                _trust with
                {
                    Certificate = SslStreamCertificateContext.Create(own, additionalCertificates: null, offline: true),
                }
            );
            await raw.SayHelloAsync(TestMember.Hello($"S{i}"));
            Assert.NotNull(await raw.ReadToEndAsync());
        }

        Assert.Equal(UnknownPeerLog.MaxSentencesPerMinute, _a.Log.Count);
        Assert.All(
            _a.Log,
            static sentence =>
                Assert.True(sentence.Length < 300 && !sentence.Contains('\n', StringComparison.Ordinal), sentence)
        );
    }

    /// <summary>A peer that lost power answers nothing and closes nothing.</summary>
    [Fact]
    public async Task A_silent_peer_is_disconnected()
    {
        var time = new SimulatedTimeProvider();
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        await using var caller = await TestMember.StartAsync(
            TestMember.Hello("C3"),
            TestMember.TrustOf(_authority, "C3"),
            time: time
        );
        int port = ((IPEndPoint)listener.LocalEndpoint).Port;
        caller.Network.SetPeers([new PeerAddress(Members.IdOf("B2"), [$"127.0.0.1:{port}"])]);
        await using var first = await AcceptSilentlyAsync(listener);
        await using var second = await AcceptSilentlyAsync(listener);
        await Eventually.HoldsAsync(() => caller.IsConnectedToAll, "both connections exist");
        for (int i = 0; i < 5; i++)
        {
            time.Advance(TimeSpan.FromMilliseconds(500));
        }

        Assert.True(caller.IsConnectedToAll);
        await Eventually.HoldsAsync(
            () =>
            {
                time.Advance(TimeSpan.FromSeconds(1));
                return caller.Receiver.Unreachables >= 2;
            },
            "both connections are given up"
        );
        Assert.True(
            caller.HasLogged("It has been silent for more than 3 s.")
                && caller.HasLogged("It has been silent for more than 15 s.")
        );
    }

    /// <summary>Accepts a connection, exchanges hellos, and then sends nothing.</summary>
    private async Task<RawPeer> AcceptSilentlyAsync(TcpListener listener)
    {
        var raw = await RawPeer.AcceptAsync(listener, _trust);
        var hello = PeerHello.Read((await raw.ReceiveAsync())!.Value.Body);
        await raw.SayHelloAsync(TestMember.Hello("B2") with { Kind = hello.Kind });
        return raw;
    }

    /// <summary>Connects as the member B2 and exchanges hellos.</summary>
    private async Task<RawPeer> GreetAsync(LinkKind kind)
    {
        var raw = await RawPeer.DialAsync(_a.Port, _trust);
        await raw.SayHelloAsync(TestMember.Hello("B2") with { Kind = kind });
        Assert.Equal(PacketKind.Hello, (await raw.ReceiveAsync())!.Value.Kind);
        return raw;
    }

    /// <summary>Other members are served as before.</summary>
    private async Task AssertServesAsync()
    {
        await using var c = await TestMember.StartAsync(TestMember.Hello("C3"), TestMember.TrustOf(_authority, "C3"));
        c.Network.SetPeers([_a.Address]);
        await Eventually.HoldsAsync(() => c.IsConnectedToAll, "another member is connected");
        c.Network.Send(Samples.Message(new Random(1), MessageKind.Vote, c.Node, _a.Node), []);
        await Eventually.HoldsAsync(() => !_a.Receiver.Messages.IsEmpty, "its message arrives");
    }
}
