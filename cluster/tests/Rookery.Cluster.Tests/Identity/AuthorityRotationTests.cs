using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Tests.Joining;
using Rookery.Simulation;
using static Rookery.Cluster.Tests.Identity.TestAuthority;

namespace Rookery.Cluster.Tests.Identity;

public sealed class AuthorityRotationTests : IDisposable
{
    private readonly ClusterAuthority authority = Create();
    private readonly MemoryDesk desk = new();
    private readonly List<Member> members = [];

    public void Dispose() => authority.Dispose();

    [Fact]
    public async Task Members_never_refuse_each_other_while_the_authority_is_replaced()
    {
        var (a, b, c) = (await AddAsync("a"), await AddAsync("b"), await AddAsync("c"));
        Assert.Null(await a.Rotation.BeginAsync(CancellationToken.None));

        // In any order, with one member off for long stretches: no stage waits for less than everybody.
        for (int round = 0; round < 12; round++)
        {
            foreach (var member in round < 5 ? [a, b] : new[] { c, b, a })
            {
                await member.Rotation.StepAsync(CancellationToken.None);
                AssertAllTrustAll($"round {round}, after {member.Identity.NodeId}");
            }

            Assert.True(round >= 5 || a.Rotation.Status is { Stage: RotationStage.Trusting, WaitsFor: ["pi-c"] }, $"round {round}");
        }

        Assert.All(members, member => Assert.NotEqual(authority.Certificate.RawData, member.Identity.Authorities[0].RawData));
        Assert.All(members, member => Assert.Equal(2, member.Identity.Authorities.Count));
        Assert.Null(await b.Rotation.RetireAsync(CancellationToken.None));
        for (int round = 0; round < 3; round++)
        {
            foreach (var member in members)
            {
                await member.Rotation.StepAsync(CancellationToken.None);
                AssertAllTrustAll($"retiring, round {round}, after {member.Identity.NodeId}");
            }
        }

        Assert.Null(a.Rotation.Status);
        Assert.Empty(desk.List("authority/"));
        Assert.All(members, member => Assert.Equal(a.Identity.Authorities[0].RawData, Assert.Single(member.Identity.Authorities).RawData));
        using var signing = c.Identity.OpenAuthority();
        Assert.Equal(a.Identity.Authorities[0].RawData, signing.Certificate.RawData);
        using var loaded = IdentityDirectory.TryLoad(c.Disk, "/data")!;
        Assert.Single(loaded.Authorities);
    }

    [Fact]
    public async Task A_member_that_joins_meanwhile_takes_part()
    {
        var a = await AddAsync("a");
        Assert.Null(await a.Rotation.BeginAsync(CancellationToken.None));
        var late = await AddAsync("late");
        for (int round = 0; round < 6; round++)
        {
            await late.Rotation.StepAsync(CancellationToken.None);
            await a.Rotation.StepAsync(CancellationToken.None);
            AssertAllTrustAll($"round {round}");
        }

        Assert.Equal(RotationStage.Signing, late.Rotation.Status!.Value.Stage);
        Assert.Equal(a.Identity.Authorities[0].RawData, late.Identity.Authorities[0].RawData);
        using var signing = late.Identity.OpenAuthority();
        Assert.Equal(a.Identity.Authorities[0].RawData, signing.Certificate.RawData);
    }

    [Fact]
    public async Task What_the_old_authority_could_sign_the_next_can_and_clients_of_the_old_go_on_until_it_is_retired()
    {
        var a = await AddAsync("a");
        using var key = NodeKey.Create();
        using var client = authority.SignClient(PublicKeyOf(key), "ansible", Now);
        await a.Rotation.BeginAsync(CancellationToken.None);
        await StepAsync(a, 3);
        Assert.Equal(NameConstraints.In(authority.Certificate).Domains, NameConstraints.In(a.Identity.Authorities[0]).Domains);
        Assert.Null(a.Identity.ClientRule.WhyRefused(client, Now));
        await a.Rotation.RetireAsync(CancellationToken.None);
        await StepAsync(a, 2);
        Assert.NotNull(a.Identity.ClientRule.WhyRefused(client, Now));
    }

    [Fact]
    public async Task Clients_are_shown_what_the_old_authority_signed_until_it_is_retired()
    {
        var a = await AddAsync("a");
        await a.Rotation.BeginAsync(CancellationToken.None);
        await StepAsync(a, 3);
        Assert.Equal(RotationStage.Signing, a.Rotation.Status!.Value.Stage);
        Assert.Null(WhyRefusedByClientOf(authority, a.Identity));
        using (var loaded = IdentityDirectory.TryLoad(a.Disk, "/data")!)
        {
            Assert.Null(WhyRefusedByClientOf(authority, loaded));
        }

        await a.Rotation.RetireAsync(CancellationToken.None);
        await StepAsync(a, 2);
        Assert.NotNull(WhyRefusedByClientOf(authority, a.Identity));
        using var next = a.Identity.OpenAuthority();
        Assert.Null(WhyRefusedByClientOf(next, a.Identity));
    }

    [Fact]
    public async Task One_rotation_at_a_time_and_none_retired_before_its_time()
    {
        var (a, b) = (await AddAsync("a"), await AddAsync("b"));
        Assert.StartsWith("There is no old authority to retire.", await a.Rotation.RetireAsync(CancellationToken.None), StringComparison.Ordinal);
        Assert.Null(await a.Rotation.BeginAsync(CancellationToken.None));
        Assert.StartsWith("A rotation of the authority is under way already.", await b.Rotation.BeginAsync(CancellationToken.None), StringComparison.Ordinal);
        await StepAsync(a, 3);
        Assert.StartsWith("Not every member shows a certificate of the new authority yet: pi-b.", await a.Rotation.RetireAsync(CancellationToken.None), StringComparison.Ordinal);
    }

    private static string? WhyRefusedByClientOf(ClusterAuthority trusted, NodeIdentity shown) =>
        AuthorityChain.WhyRefused(shown.CertificateForClients, [trusted.Certificate], ClusterAuthority.Server, Now);

    private static async Task StepAsync(Member member, int rounds)
    {
        for (int round = 0; round < rounds; round++)
        {
            await member.Rotation.StepAsync(CancellationToken.None);
        }
    }

    private async Task<Member> AddAsync(string nodeId)
    {
        var member = new Member(CreateIdentity(authority, nodeId: nodeId), desk);
        var record = new MemberRecord { Tag = nodeId, Name = "pi-" + nodeId, Addresses = [], PublicKey = member.Identity.Key.ExportSubjectPublicKeyInfo() };
        await desk.ChangeAsync([new RecordChange(MemberRecord.KeyOf(nodeId), record.ToJson(), null)], CancellationToken.None);
        members.Add(member);
        return member;
    }

    private void AssertAllTrustAll(string when)
    {
        foreach (var one in members)
        {
            Assert.All(members, other => Assert.True(one.Identity.PeerRule.Judge(other.Identity.Certificate, PeerRole.Client).Refusal is null, $"{when}: {one.Identity.NodeId} refuses {other.Identity.NodeId}"));
        }
    }

    private sealed class Member
    {
        public Member(NodeIdentity identity, MemoryDesk desk)
        {
            Identity = identity;
            IdentityDirectory.Create(Disk, "/data", identity);
            Rotation = new AuthorityRotation(() => Identity, Replace, desk, new SimulatedTimeProvider(Now));
        }

        public SimulatedDisk Disk { get; } = new("/data");

        public NodeIdentity Identity { get; private set; }

        public AuthorityRotation Rotation { get; }

        private void Replace(NodeIdentity identity)
        {
            IdentityDirectory.Update(Disk, "/data", identity);
            Identity = identity;
        }
    }
}
