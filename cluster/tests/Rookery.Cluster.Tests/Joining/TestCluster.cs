using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Tests.Identity;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Joining;

/// <summary>A cluster of one member, pi-1, that admits nodes.</summary>
internal sealed class TestCluster : IDisposable
{
    private readonly ClusterAuthority _authority;

    public TestCluster(string clusterId = TestAuthority.ClusterId)
    {
        _authority = TestAuthority.Create(clusterId);
        Identity = TestAuthority.CreateIdentity(_authority);
        RecordStore = new MemoryRecordStore { Clock = () => new ClusterTime(Time.GetUtcNow().UtcTicks, IsSure: true) };
        Tokens = new JoinTokens(() => Identity, RecordStore);
        Registrar = new Registrar(() => Identity, RecordStore, Time);
        var self = new MemberRecord
        {
            Tag = "A",
            Name = "pi-1",
            Addresses = ["127.0.0.1:9080"],
            PublicKey = Identity.Key.ExportSubjectPublicKeyInfo(),
            Joined = TestAuthority.Now,
        };
        RecordStore
            .ChangeAsync(
                [new RecordChange(MemberRecord.KeyOf(Identity.NodeId), self.ToJson(), ExpectedVersion: null)],
                CancellationToken.None
            )
            .AsTask()
            .Wait();
    }

    public SimulatedTimeProvider Time { get; } = new(TestAuthority.Now);

    public MemoryRecordStore RecordStore { get; }

    public NodeIdentity Identity { get; }

    public JoinTokens Tokens { get; }

    public Registrar Registrar { get; }

    public void Dispose()
    {
        Identity.Dispose();
        _authority.Dispose();
    }

    /// <summary>Creates a join token.</summary>
    public async Task<JoinToken> CreateTokenAsync()
    {
        var (token, _, refusal) = await Tokens.CreateAsync(JoinTokens.DefaultLife, CancellationToken.None);
        Assert.Null(refusal);
        return token!;
    }

    /// <summary>Returns the answer to a request, which must not be refused.</summary>
    public async Task<JoinAnswer> AdmitAsync(JoinRequest request)
    {
        var (answer, refusal) = await Registrar.AdmitAsync(request, CancellationToken.None);
        Assert.True(refusal is null, refusal?.Message);
        return answer!;
    }

    /// <summary>Returns the refusal of a request, and checks that the request changed no record.</summary>
    public async Task<JoinRefusal> RefuseAsync(JoinRequest request)
    {
        int changes = RecordStore.Changes;
        var (answer, refusal) = await Registrar.AdmitAsync(request, CancellationToken.None);
        Assert.Null(answer);
        Assert.Equal(changes, RecordStore.Changes);
        return refusal!;
    }

    /// <summary>Makes the request by which a new node with a new key asks to join.</summary>
    public static JoinRequest Request(JoinToken token, string name = "pi-2")
    {
        using var key = NodeKey.Create();
        return new JoinRequest
        {
            Secret = token.Secret,
            NodeId = NodeIds.Create().NodeId,
            Name = name,
            Addresses = ["192.168.1.6:9080", "[fe80::6]:9080"],
            CertificateRequest = NodeKey.RequestCertificate(key),
        };
    }
}
