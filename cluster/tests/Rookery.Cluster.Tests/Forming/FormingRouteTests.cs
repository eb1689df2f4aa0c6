using System.Net;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Rookery.Cluster.Forming;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Peers;
using Rookery.Cluster.Tests.Identity;
using Rookery.Cluster.Tests.Joining;
using Rookery.Cluster.Tests.Peers;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Forming;

/// <summary>Two nodes prove to each other that they know the phrase, over TLS on loopback.</summary>
public sealed class FormingRouteTests : IAsyncLifetime, IDisposable
{
    private const string Caller = "callernodecallernodeca";

    private static readonly FormingPhrase Phrase = FormingPhrase.Derive("correct horse battery", "home");
    private static readonly FormingPhrase OtherPhrase = FormingPhrase.Derive(" correct horse battery\n", "away");

    private readonly TestCluster _cluster = new();
    private readonly SimulatedDisk _disk = new("/data");
    private readonly List<string> _log = [];
    private readonly string _address = $"127.0.0.1:{TestMember.FreePort()}";
    private readonly Func<PeerTrust> _founderTrust;
    private readonly Func<PeerTrust> _callerTrust = TestMember.TrustOf(
        TestAuthority.Create("callerclustercallerclu"),
        Caller
    );
    private PeerNetwork _network = null!;
    private WebApplication _server = null!;
    private FormingNode _founder = null!;

    public FormingRouteTests() => _founderTrust = () => PeerTrust.Of(_cluster.Identity);

    public async Task InitializeAsync()
    {
        // The id of the candidacy may be any text of an id's length.
        new FormingNote(FormingStep.Candidate) { Candidacy = Caller }.Write(_disk, "/data");
        _founder = new FormingNode(
            _disk,
            "/data",
            new FormingSelf(TestAuthority.NodeId, "pi-1", "home", Expect: 2),
            () => true,
            TimeProvider.System
        );
        _network = new PeerNetwork(
            TestMember.Hello(TestAuthority.NodeId),
            _founderTrust,
            new TestAdmission(),
            TimeProvider.System,
            static _ => { }
        );
        var route = new FormingRoute(_founder, () => Phrase, _cluster.Tokens, () => ["192.0.2.1:9443"], _log.Add);
        _server = PeerListener.Build(
            IPEndPoint.Parse(_address),
            _network,
            app => app.Run(http => route.AnswerAsync(http))
        );
        await _server.StartAsync();
    }

    public async Task DisposeAsync()
    {
        await _server.DisposeAsync();
        await _network.DisposeAsync();
    }

    public void Dispose() => _cluster.Dispose();

    [Fact]
    public async Task A_caller_with_the_phrase_and_a_vow_always_gets_the_same_token()
    {
        // In a cluster of two, the caller is the other member. A vow names the candidacy of the called node.
        var call = new FormingCall
        {
            NodeId = Caller,
            Name = "pi-2",
            Expect = 2,
        };

        // After a restart a candidate does not know yet whether it was claimed before.
        Assert.Equal(
            "it is starting",
            (await Assert.ThrowsAsync<IOException>(() => AskAsync(Phrase, call with { Vow = Caller }))).Message
        );
        _founder.Conclude([]);
        var open = await AskAsync(Phrase, call);
        Assert.Equal((FormingStep.Candidate, (string?)null), (open.Step, open.Token));
        var founded = await AskAsync(Phrase, call with { Vow = Caller });
        Assert.Equal(founded.Token, (await AskAsync(Phrase, call)).Token);
        Assert.True(JoinToken.TryParse(founded.Token!, out var token));
        Assert.Equal([_address, "192.0.2.1:9443"], token.Addresses);
        Assert.False(_cluster.Tokens.IsUsed(token.Secret));
        await _cluster.AdmitAsync(TestCluster.Request(token));
        Assert.True(_cluster.Tokens.IsUsed(token.Secret));

        var stranger = await AskAsync(Phrase, call with { NodeId = "anothernodeanothernode", Name = "pi-3" });
        Assert.Null(stranger.Token);
    }

    [Fact]
    public async Task A_caller_with_another_phrase_or_cluster_name_is_refused_and_its_name_is_logged()
    {
        var refused = await Assert.ThrowsAsync<IOException>(() =>
            AskAsync(
                OtherPhrase,
                new FormingCall
                {
                    NodeId = Caller,
                    Name = "pi-2",
                    Expect = 2,
                    Vow = Caller,
                }
            )
        );
        Assert.Equal("it has another phrase, or another name for the cluster", refused.Message);
        Assert.Equal(
            "pi-2 at 127.0.0.1 wants to form a cluster with this node, and has another phrase, or another name "
                + "for the cluster.",
            Assert.Single(_log)
        );
        Assert.Equal(FormingStep.Candidate, _founder.Note.Step);
    }

    [Fact]
    public async Task A_malformed_call_is_refused()
    {
        await Assert.ThrowsAsync<IOException>(() =>
            AskAsync(
                Phrase,
                new FormingCall
                {
                    NodeId = "x",
                    Name = "pi-2",
                    Expect = 2,
                }
            )
        );
        Assert.Equal(HttpStatusCode.BadRequest, (await PostAsync("no call"u8.ToArray())).StatusCode);
    }

    /// <summary>A man in the middle has another certificate and relays the proofs.</summary>
    [Fact]
    public async Task A_proof_that_was_made_for_another_connection_proves_nothing()
    {
        _founder.Conclude([]);
        using var between = TestAuthority.CreateIdentity(TestAuthority.Create("betweenclusterbetweenc"));
        var (own, caller, foreign) = (
            _cluster.Identity.Certificate,
            _callerTrust().Certificate.TargetCertificate,
            between.Certificate
        );
        // The end that proves, the certificates of both ends of the connection, and whether the proof holds.
        foreach (
            var (end, first, second, holds) in new[]
            {
                (FormingEnd.Caller, caller, own, true),
                (FormingEnd.Caller, caller, foreign, false),
                (FormingEnd.Caller, foreign, own, false),
                (FormingEnd.Answerer, caller, own, false),
            }
        )
        {
            byte[] call = JsonSerializer.SerializeToUtf8Bytes(
                new FormingCall
                {
                    NodeId = Caller,
                    Name = "pi-2",
                    Expect = 2,
                    Proof = Phrase.Prove(end, first, second),
                },
                ClusterJson.Default.FormingCall
            );
            Assert.Equal(holds ? HttpStatusCode.OK : HttpStatusCode.Forbidden, (await PostAsync(call)).StatusCode);
        }
    }

    [Fact]
    public async Task An_answer_without_the_phrase_is_not_believed()
    {
        string impostorAddress = $"127.0.0.1:{TestMember.FreePort()}";
        var answer = new FormingAnswer
        {
            NodeId = TestAuthority.NodeId,
            Name = "pi-1",
            Expect = 2,
            Step = FormingStep.Founded,
            Members = [Caller],
            Token = "token",
            Proof = OtherPhrase.Prove(
                FormingEnd.Answerer,
                _cluster.Identity.Certificate,
                _cluster.Identity.Certificate
            ),
        };
        await using var impostor = PeerListener.Build(
            IPEndPoint.Parse(impostorAddress),
            _network,
            app =>
                app.Run(http =>
                    JoinRoutes.WriteAsync(
                        http,
                        status: 200,
                        JsonSerializer.SerializeToUtf8Bytes(answer, ClusterJson.Default.FormingAnswer)
                    )
                )
        );
        await impostor.StartAsync();
        var refused = await Assert.ThrowsAsync<IOException>(() =>
            new FormingCaller(_callerTrust, Phrase).AskAsync(
                impostorAddress,
                new FormingCall
                {
                    NodeId = Caller,
                    Name = "pi-2",
                    Expect = 2,
                },
                CancellationToken.None
            )
        );
        Assert.Contains("does not know the phrase", refused.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("fifteen letters", true)]
    [InlineData("   fifteen letters     ", true)]
    [InlineData("sixteen letters.", false)]
    public void A_phrase_that_is_too_short_is_refused_and_not_repeated_in_the_message(string phrase, bool isTooShort)
    {
        Assert.Equal(
            isTooShort,
            FormingPhrase
                .WhyTooShort(phrase)
                ?.StartsWith(
                    "The phrase to form a cluster with has 15 characters, and must have 16 at least",
                    StringComparison.Ordinal
                )
                ?? false
        );
        Assert.DoesNotContain("letters", FormingPhrase.WhyTooShort(phrase) ?? string.Empty, StringComparison.Ordinal);
    }

    [Fact]
    public void Nodes_with_the_same_phrase_and_cluster_name_have_the_same_mark()
    {
        Assert.Equal(Phrase.Mark, FormingPhrase.Derive(" correct horse battery\n", "home").Mark);
        Assert.Matches("^[0-9a-f]{4}$", Phrase.Mark);
        Assert.NotEqual(Phrase.Mark, OtherPhrase.Mark);
    }

    private Task<FormingAnswer> AskAsync(FormingPhrase phrase, FormingCall call) =>
        new FormingCaller(_callerTrust, phrase).AskAsync(_address, call, CancellationToken.None);

    private async Task<HttpResponseMessage> PostAsync(byte[] body)
    {
        var stream = await PeerTls.ConnectToAnyoneAsync(_address, _callerTrust(), CancellationToken.None);
        using var handler = new SocketsHttpHandler { ConnectCallback = (_, _) => new ValueTask<Stream>(stream) };
        using var client = new HttpClient(handler);
        using var content = new ByteArrayContent(body);
        return await client.PostAsync(new Uri($"https://{_address}{FormingRoute.Path}"), content);
    }
}
