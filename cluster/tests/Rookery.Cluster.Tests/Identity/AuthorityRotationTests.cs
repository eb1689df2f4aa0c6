using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Tests.Joining;
using Rookery.Simulation;
using static Rookery.Cluster.Tests.Identity.TestAuthority;

namespace Rookery.Cluster.Tests.Identity;

/// <summary>
/// The cluster's authority is replaced in stages: first every member trusts the next authority, then each certificate
/// is signed by the next authority, then the old authority is retired.
/// </summary>
public sealed class AuthorityRotationTests : IDisposable
{
    private readonly ClusterAuthority _authority = Create();
    private readonly MemoryRecordStore _recordStore = new();
    private readonly List<Member> _members = [];

    public void Dispose() => _authority.Dispose();

    [Fact]
    public async Task Members_never_refuse_each_other_while_the_authority_is_replaced()
    {
        var (a, b, c) = (await AddAsync("a"), await AddAsync("b"), await AddAsync("c"));
        Assert.Null(await a.Rotation.BeginAsync(CancellationToken.None));

        // C is off in the first five rounds. No stage ends before every member is done with it.
        for (int round = 0; round < 12; round++)
        {
            foreach (var member in round < 5 ? [a, b] : new[] { c, b, a })
            {
                await member.Rotation.StepAsync(CancellationToken.None);
                AssertAllTrustAll($"round {round}, after {member.Identity.NodeId}");
            }

            Assert.True(
                round >= 5 || a.Rotation.Status is { Stage: RotationStage.Trusting, WaitsFor: ["pi-c"] },
                $"round {round}: the rotation does not wait for pi-c"
            );
        }

        Assert.All(
            _members,
            member => Assert.NotEqual(_authority.Certificate.RawData, member.Identity.Authorities[0].RawData)
        );
        Assert.All(_members, member => Assert.Equal(2, member.Identity.Authorities.Count));
        Assert.Null(await b.Rotation.RetireAsync(CancellationToken.None));
        for (int round = 0; round < 3; round++)
        {
            foreach (var member in _members)
            {
                await member.Rotation.StepAsync(CancellationToken.None);
                AssertAllTrustAll($"retiring, round {round}, after {member.Identity.NodeId}");
            }
        }

        Assert.Null(a.Rotation.Status);
        Assert.Empty(_recordStore.List("authority/"));
        Assert.All(
            _members,
            member =>
                Assert.Equal(a.Identity.Authorities[0].RawData, Assert.Single(member.Identity.Authorities).RawData)
        );
        using var signing = c.Identity.OpenAuthority();
        Assert.Equal(a.Identity.Authorities[0].RawData, signing.Certificate.RawData);
        using var loaded = IdentityDirectory.TryLoad(c.Disk, "/data")!;
        Assert.Single(loaded.Authorities);
    }

    [Fact]
    public async Task A_member_that_joins_during_a_rotation_takes_part_in_it()
    {
        var a = await AddAsync("a");
        Assert.Null(await a.Rotation.BeginAsync(CancellationToken.None));
        var joined = await AddAsync("late");
        for (int round = 0; round < 6; round++)
        {
            await joined.Rotation.StepAsync(CancellationToken.None);
            await a.Rotation.StepAsync(CancellationToken.None);
            AssertAllTrustAll($"round {round}");
        }

        Assert.Equal(RotationStage.Signing, joined.Rotation.Status!.Value.Stage);
        Assert.Equal(a.Identity.Authorities[0].RawData, joined.Identity.Authorities[0].RawData);
        using var signing = joined.Identity.OpenAuthority();
        Assert.Equal(a.Identity.Authorities[0].RawData, signing.Certificate.RawData);
    }

    /// <summary>A leader that joined during the rotation has no key of the next authority to seal.</summary>
    [Fact]
    public async Task If_a_member_that_joined_during_a_rotation_leads_another_member_seals_the_key_for_it()
    {
        var a = await AddAsync("a");
        Assert.Null(await a.Rotation.BeginAsync(CancellationToken.None));
        var joined = await AddAsync("late");
        for (int round = 0; round < 6; round++)
        {
            _recordStore.IsLeader = true;
            await joined.Rotation.StepAsync(CancellationToken.None);
            _recordStore.IsLeader = false;
            await a.Rotation.StepAsync(CancellationToken.None);
            AssertAllTrustAll($"round {round}");
        }

        using var signing = joined.Identity.OpenAuthority();
        Assert.Equal(a.Identity.Authorities[0].RawData, signing.Certificate.RawData);
        Assert.Equal(
            (RotationStage.Signing, 0),
            (joined.Rotation.Status!.Value.Stage, joined.Rotation.Status.Value.WaitsFor.Count)
        );
    }

    [Fact]
    public async Task The_next_authority_has_the_old_constraints_and_old_client_certificates_hold_until_it_is_retired()
    {
        var a = await AddAsync("a");
        using var key = NodeKey.Create();
        using var client = _authority.SignClient(PublicKeyOf(key), "ansible", Now);
        await a.Rotation.BeginAsync(CancellationToken.None);
        await StepAsync(a, rounds: 3);
        Assert.Equal(
            NameConstraints.ReadFrom(_authority.Certificate).Domains,
            NameConstraints.ReadFrom(a.Identity.Authorities[0]).Domains
        );
        Assert.Null(a.Identity.ClientRule.WhyRefused(client, Now));
        await a.Rotation.RetireAsync(CancellationToken.None);
        await StepAsync(a, rounds: 2);
        Assert.NotNull(a.Identity.ClientRule.WhyRefused(client, Now));
    }

    [Fact]
    public async Task Clients_see_a_certificate_of_the_old_authority_until_it_is_retired()
    {
        var a = await AddAsync("a");
        await a.Rotation.BeginAsync(CancellationToken.None);
        await StepAsync(a, rounds: 3);
        Assert.Equal(RotationStage.Signing, a.Rotation.Status!.Value.Stage);
        Assert.Null(WhyRefusedByClientOf(_authority, a.Identity));
        using (var loaded = IdentityDirectory.TryLoad(a.Disk, "/data")!)
        {
            Assert.Null(WhyRefusedByClientOf(_authority, loaded));
        }

        await a.Rotation.RetireAsync(CancellationToken.None);
        await StepAsync(a, rounds: 2);
        Assert.NotNull(WhyRefusedByClientOf(_authority, a.Identity));
        using var next = a.Identity.OpenAuthority();
        Assert.Null(WhyRefusedByClientOf(next, a.Identity));
    }

    [Fact]
    public async Task Only_one_rotation_runs_and_the_old_authority_cannot_be_retired_early()
    {
        var (a, b) = (await AddAsync("a"), await AddAsync("b"));
        Assert.StartsWith(
            "There is no old authority to retire.",
            (await a.Rotation.RetireAsync(CancellationToken.None))!.Message,
            StringComparison.Ordinal
        );
        Assert.Null(await a.Rotation.BeginAsync(CancellationToken.None));
        Assert.StartsWith(
            "A rotation of the authority is under way already.",
            (await b.Rotation.BeginAsync(CancellationToken.None))!.Message,
            StringComparison.Ordinal
        );
        await StepAsync(a, rounds: 3);
        Assert.StartsWith(
            "Not every member shows a certificate of the new authority yet: pi-b.",
            (await a.Rotation.RetireAsync(CancellationToken.None))!.Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task A_power_cut_at_any_point_of_a_stage_leaves_a_member_that_completes_it()
    {
        var (a, b) = (await AddAsync("a"), await AddAsync("b"));
        await a.Rotation.BeginAsync(CancellationToken.None);
        await StepAsync(b, rounds: 1);
        await StepAsync(a, rounds: 2);
        int before = b.Disk.OperationCount;
        await b.Rotation.StepAsync(CancellationToken.None);
        int after = b.Disk.OperationCount;
        var next = b.Identity.Authorities[0];

        // As if B had lost power before it acknowledged the stage.
        await _recordStore.ChangeAsync(
            [
                new RecordChange(
                    RotationRecord.AcknowledgementOf(RotationStage.Signing, "b"),
                    Value: null,
                    ExpectedVersion: null
                ),
            ],
            CancellationToken.None
        );
        for (int operation = before; operation <= after; operation++)
        {
            var started = new Member(b.Disk.CrashAt(operation, seed: operation), _recordStore);
            await started.Rotation.StepAsync(CancellationToken.None);
            string? refusal = AuthorityChain.WhyRefused(
                started.Identity.Certificate,
                [next],
                ClusterAuthority.Server,
                now: null
            );
            using var signing = started.Identity.OpenAuthority();
            Assert.True(
                refusal is null && signing.Certificate.RawDataMemory.Span.SequenceEqual(next.RawDataMemory.Span),
                $"operation {operation}: {refusal}"
            );
        }
    }

    /// <summary>
    /// The thief of a card can act as the member until the authority whose key is on the card is retired.
    /// </summary>
    [Fact]
    public async Task The_key_of_a_retired_authority_proves_no_identity()
    {
        var (a, b) = (await AddAsync("a"), await AddAsync("b"));
        using var stolen = b.Identity.OpenAuthority();
        using var key = NodeKey.Create();
        using var forged = stolen.SignNode(PublicKeyOf(key), "b", Names(), Now);
        using var client = stolen.SignClient(PublicKeyOf(key), "owner", Now);
        Assert.Equal("b", a.Identity.PeerRule.Judge(forged, PeerRole.Client).NodeId);
        await a.Rotation.BeginAsync(CancellationToken.None);
        for (int round = 0; round < 3; round++)
        {
            await StepAsync(b, rounds: 1);
            await StepAsync(a, rounds: 1);
        }

        Assert.Null(await a.Rotation.RetireAsync(CancellationToken.None));
        await StepAsync(a, rounds: 1);
        Assert.NotNull(a.Identity.PeerRule.Judge(forged, PeerRole.Client).Refusal);
        Assert.NotNull(a.Identity.PeerRule.Judge(forged, PeerRole.Server).Refusal);
        Assert.NotNull(a.Identity.ClientRule.WhyRefused(client, Now));
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
        var member = new Member(CreateIdentity(_authority, nodeId: nodeId), _recordStore);
        var record = new MemberRecord
        {
            Tag = nodeId,
            Name = "pi-" + nodeId,
            Addresses = [],
            PublicKey = member.Identity.Key.ExportSubjectPublicKeyInfo(),
        };
        await _recordStore.ChangeAsync(
            [new RecordChange(MemberRecord.KeyOf(nodeId), record.ToJson(), ExpectedVersion: null)],
            CancellationToken.None
        );
        _members.Add(member);
        return member;
    }

    private void AssertAllTrustAll(string when)
    {
        foreach (var verifier in _members)
        {
            Assert.All(
                _members,
                other =>
                    Assert.True(
                        verifier.Identity.PeerRule.Judge(other.Identity.Certificate, PeerRole.Client).Refusal is null,
                        $"{when}: {verifier.Identity.NodeId} refuses {other.Identity.NodeId}"
                    )
            );
        }
    }

    /// <summary>A member with an identity on its disk, which takes part in the rotation.</summary>
    private sealed class Member
    {
        public Member(NodeIdentity identity, MemoryRecordStore recordStore)
            : this(Write(identity), recordStore) { }

        /// <summary>Starts the member that owns the disk.</summary>
        public Member(SimulatedDisk disk, MemoryRecordStore recordStore)
        {
            Disk = disk;
            Identity = IdentityDirectory.TryLoad(disk, "/data")!;
            Rotation = new AuthorityRotation(() => Identity, Change, recordStore, new SimulatedTimeProvider(Now));
        }

        public SimulatedDisk Disk { get; }

        public NodeIdentity Identity { get; private set; }

        public AuthorityRotation Rotation { get; }

        private static SimulatedDisk Write(NodeIdentity identity)
        {
            var disk = new SimulatedDisk("/data");
            IdentityDirectory.Create(disk, "/data", identity);
            return disk;
        }

        private void Change(Func<NodeIdentity, NodeIdentity?> change)
        {
            if (change(Identity) is { } next)
            {
                IdentityDirectory.Update(Disk, "/data", next);
                Identity = next;
            }
        }
    }
}
