using System.Net;
using System.Security.Cryptography.X509Certificates;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Peers;
using Rookery.Cluster.Recovery;
using Rookery.Documents.Nodes;
using Rookery.Documents.Records;
using Rookery.Documents.Recovery;
using Rookery.Platform;
using Rookery.Raft;
using Rookery.Simulation;
using Rookery.Storage;

namespace Rookery.Cluster.Tests.Recovery;

/// <summary>
/// Recovery of a cluster that lost its majority: it surveys the stopped members, refuses if a majority still exists,
/// and makes one member a new cluster. By default the cluster has three voters; a card is the data directory of one.
/// </summary>
public sealed class ClusterRecoveryTests : IDisposable
{
    private const string ClusterId = StoppedMembers.ClusterId;

    private readonly SimulatedDisk _disk = new("/data");
    private readonly SimulatedTimeProvider _time = new(new DateTimeOffset(2026, 11, 22, 1, 0, 0, TimeSpan.Zero));
    private readonly ClusterAuthority _authority = ClusterAuthority.Create(ClusterId, "home", ["pi-1.example.org"]);
    private readonly StoppedMembers _members;

    public ClusterRecoveryTests() => _members = new StoppedMembers(_disk, _time, _authority);

    public void Dispose() => _authority.Dispose();

    [Fact]
    public async Task The_recovery_of_the_last_of_three_members_reports_possible_losses_and_makes_it_the_only_voter()
    {
        // Of three members only the first one's directory is left. Later it opens as a cluster of one.
        _members.Write("/data/one", 1, entries: 5);
        RecoveredCluster recovered;
        using (var recovery = Open("/data/one"))
        {
            var survey = await recovery.SurveyAsync(directories: [], CancellationToken.None);
            Assert.Null(survey.Refusal);
            Assert.Equal(3, survey.Voters);
            Assert.Equal([StoppedMembers.NodeIdOf(2), "pi-3"], survey.OutOfReach);
            Assert.Contains(
                survey.Losses,
                static loss =>
                    loss.Contains("had not received is lost: it holds the entries through", StringComparison.Ordinal)
            );
            recovered = recovery.Run([IPAddress.Parse("192.168.1.5")]);
        }

        Assert.NotEqual(ClusterId, recovered.Ids.ClusterId);
        Assert.True(_disk.Exists("/data/one/cluster" + recovered.KeptSuffix), "the old identity is kept");
        using var identity = IdentityDirectory.TryLoad(_disk, "/data/one")!;
        Assert.Equal(
            ("home", "pi-1", recovered.Ids.ClusterId, 0),
            (identity.ClusterName, identity.NodeName, identity.ClusterId, identity.Peers.Count)
        );
        Assert.Contains("pi-1.example.org", NameConstraints.ReadFrom(identity.Authorities[0]).Domains);

        using var store = NodeStore.Open(
            StoppedMembers.Options("/data/one"),
            _disk,
            new MemoryBudget(16 << 20),
            NoRecorder.Instance,
            _time
        );
        using var consensus = RaftConsensus.Open(store, new ConsensusOptions { AnswersInline = true });
        var state = consensus.ReadState();
        Assert.Equal(
            (Role.Leader, 1, 0),
            (state.Role, state.Configuration.Voters.Length, state.Configuration.Learners.Length)
        );
        Assert.True(state.Configuration.IsVoter(Members.IdOf(recovered.Ids.NodeId)), "it votes under its new id");
        Assert.Empty(store.ClusterRecords.List(ClusterRecordPrefix.Member));
        Assert.Single(store.ClusterRecords.List(ClusterRecordPrefix.Access));
        using var reader = Assert.Single(store.Databases.All).OpenReader();
        Assert.Equal(5, reader.ReadStatistics().Documents);
    }

    [Fact]
    public void The_recovered_node_keeps_the_address_and_the_URL_that_the_operator_configured()
    {
        _members.Write("/data/one", 1, entries: 1);
        using (var recovery = Open("/data/one"))
        {
            recovery.Run([IPAddress.Parse("192.168.1.5")]);
        }

        using var identity = IdentityDirectory.TryLoad(_disk, "/data/one")!;
        Assert.Equal(StoppedMembers.ConfiguredAddress, Assert.Single(identity.ConfiguredAddresses));
        Assert.Equal(StoppedMembers.ConfiguredUrl, identity.ConfiguredUrl);
        Assert.All(
            ["192.168.1.5", "192.168.7.9", "pi-1.example.org"],
            host => Assert.True(identity.Certificate.MatchesHostname(host), host)
        );
    }

    [Fact]
    public void A_slow_clock_gives_the_recovered_node_no_certificate_that_ends_earlier_than_its_former_one()
    {
        _members.Write("/data/one", 1, entries: 1);
        DateTimeOffset formerEnd;
        using (var recovery = Open("/data/one"))
        {
            formerEnd = CertificateLife.Of(recovery.Identity.Certificate).NotAfter;
            _time.SetUtcNow(_time.GetUtcNow().AddMonths(-10));
            recovery.Run([]);
        }

        using var identity = IdentityDirectory.TryLoad(_disk, "/data/one")!;
        Assert.Equal(formerEnd, CertificateLife.Of(identity.Certificate).NotAfter);
    }

    [Fact]
    public async Task The_new_cluster_refuses_members_of_the_old_one_and_says_why()
    {
        _members.Write("/data/one", 1, entries: 2);
        using (var recovery = Open("/data/one"))
        {
            await recovery.SurveyAsync(directories: [], CancellationToken.None);
            recovery.Run([]);
        }

        using var identity = IdentityDirectory.TryLoad(_disk, "/data/one")!;
        using var key = NodeKey.Create();
        using var old = _authority.SignNode(
            new PublicKey(key),
            StoppedMembers.NodeIdOf(2),
            new NodeNames("pi-2", "home", CurrentAddresses: []),
            _time.GetUtcNow()
        );
        Assert.Contains(
            "was not signed by this cluster's authority",
            identity.PeerRule.Judge(old, PeerRole.Client).Refusal,
            StringComparison.Ordinal
        );

        // Even with a certificate of the new authority, the data of the old cluster would be refused.
        var gate = new PeerGate(
            HelloOf(identity.NodeId, identity.ClusterId),
            new Everybody(),
            static _ => null,
            TimeProvider.System
        );
        Assert.Contains(
            "it may join this one with an empty data directory",
            gate.AdmitOrRefuse(HelloOf(StoppedMembers.NodeIdOf(2), ClusterId), StoppedMembers.NodeIdOf(2))!.Sentence,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task The_store_with_the_newer_log_must_be_recovered()
    {
        _members.Write("/data/one", 1, entries: 3, voters: 5);
        _members.Write("/data/two", 2, entries: 5, voters: 5);
        using (var recovery = Open("/data/one"))
        {
            var survey = await recovery.SurveyAsync(["/data/two"], CancellationToken.None);
            Assert.Contains($"recover {StoppedMembers.NodeIdOf(2)} instead", survey.Refusal, StringComparison.Ordinal);
        }

        using (var recovery = Open("/data/two"))
        {
            var survey = await recovery.SurveyAsync(["/data/one"], CancellationToken.None);
            Assert.Null(survey.Refusal);
            Assert.Equal([StoppedMembers.NodeIdOf(4), StoppedMembers.NodeIdOf(5), "pi-3"], survey.OutOfReach);
        }
    }

    [Fact]
    public async Task Cards_that_are_a_majority_must_be_started_instead_of_recovered()
    {
        _members.Write("/data/one", 1, entries: 3);
        _members.Write("/data/two", 2, entries: 5);
        using var recovery = Open("/data/one");
        var survey = await recovery.SurveyAsync(["/data/two", "/data/two"], CancellationToken.None);
        Assert.Equal(
            $"{StoppedMembers.NodeIdOf(2)} and pi-1 are a majority of the 3 voters, so there is nothing to recover from: "
                + $"start {StoppedMembers.NodeIdOf(2)} (/data/two) and pi-1 (/data/one), and nothing is lost.",
            survey.Refusal
        );
    }

    /// <summary>
    /// The cluster refuses a member that runs from an old copy of its card. If recovery counted an old copy for a
    /// majority, it would tell the owner to start a cluster that can never elect a leader.
    /// </summary>
    [Theory]
    [InlineData(6, 9)]
    [InlineData(7, 8)]
    public async Task An_old_copy_does_not_count_for_a_majority_and_is_reported(long startsOfThree, long startsOfOne)
    {
        // One of the two stores was started less often than the other store has recorded.
        _members.Write("/data/one", 1, entries: 5, starts: startsOfOne, metAs: (3, 7));
        _members.Write("/data/three", 3, entries: 3, starts: startsOfThree, metAs: (1, 9));
        using var recovery = Open("/data/one");
        var survey = await recovery.SurveyAsync(["/data/three"], CancellationToken.None);
        bool isThreeOld = startsOfThree < 7;
        Assert.Null(survey.Refusal);
        Assert.Equal(isThreeOld, survey.OutOfReach.Contains("pi-3"));
        Assert.Contains(
            isThreeOld
                ? "/data/three is an old copy of pi-3: it was started 6 times, but pi-1 has already seen start 7. "
                : "/data/one is an old copy of pi-1: it was started 8 times, but pi-3 has already seen start 9. ",
            Assert.Single(survey.Losses, static loss => loss.Contains("old copy", StringComparison.Ordinal)),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task A_card_whose_starts_equal_the_recorded_number_is_no_old_copy()
    {
        _members.Write("/data/one", 1, entries: 5, starts: 9, metAs: (3, 7));
        _members.Write("/data/three", 3, entries: 3, starts: 7, metAs: (1, 9));
        using var recovery = Open("/data/one");
        Assert.EndsWith(
            "start pi-1 (/data/one) and pi-3 (/data/three), and nothing is lost.",
            (await recovery.SurveyAsync(["/data/three"], CancellationToken.None)).Refusal,
            StringComparison.Ordinal
        );
    }

    /// <summary>
    /// The start number was in the journal. Without it, the last disk of a cluster must still be recoverable.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_card_whose_journal_is_damaged_or_gone_is_not_called_an_old_copy(bool isGone)
    {
        _members.Write("/data/one", 1, entries: 5, starts: 9, metAs: (1, 9), isFlushed: true);
        foreach (string file in _disk.List("/data/one/journal"))
        {
            string path = $"/data/one/journal/{file}";
            if (isGone)
            {
                _disk.Delete(path);
            }
            else if (path.Contains("journal-", StringComparison.Ordinal))
            {
                _disk.Rot(path, offset: 0, mask: 0xff);
            }
        }

        using var recovery = Open("/data/one");
        var survey = await recovery.SurveyAsync(directories: [], CancellationToken.None);
        Assert.DoesNotContain(survey.Losses, static loss => loss.Contains("old copy", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(RetirementCause.Excluded)]
    [InlineData(RetirementCause.Halted)]
    public async Task A_retired_card_does_not_count_for_a_majority(RetirementCause cause)
    {
        _members.Write("/data/one", 1, entries: 3);
        _members.Write("/data/two", 2, entries: 3);
        IdentityDirectory.Retire(_disk, "/data/two", new Retirement(cause, "Why."));
        using var recovery = Open("/data/one");
        Assert.Null((await recovery.SurveyAsync(["/data/two"], CancellationToken.None)).Refusal);
    }

    [Fact]
    public async Task Two_cards_are_no_majority_if_one_of_them_has_a_configuration_of_five_voters()
    {
        _members.Write("/data/one", 1, entries: 3);
        _members.Write("/data/two", 2, entries: 3, voters: 5);
        using var recovery = Open("/data/one");
        Assert.Null((await recovery.SurveyAsync(["/data/two"], CancellationToken.None)).Refusal);
    }

    [Fact]
    public async Task The_only_voter_of_its_cluster_must_be_started_instead_of_recovered()
    {
        _members.Write("/data/one", 1, entries: 3, voters: 1);
        using var recovery = Open("/data/one");
        Assert.Equal(
            "pi-1 is the only voter of the cluster, so there is nothing to recover from: start pi-1 "
                + "(/data/one), and nothing is lost.",
            (await recovery.SurveyAsync(directories: [], CancellationToken.None)).Refusal
        );
    }

    [Fact]
    public async Task The_standby_of_a_lost_voter_is_recovered()
    {
        _members.Write("/data/two", 2, entries: 3, voters: 1);
        using var recovery = Open("/data/two");
        Assert.Null((await recovery.SurveyAsync(directories: [], CancellationToken.None)).Refusal);
    }

    [Fact]
    public async Task A_log_with_a_later_term_is_newer_than_a_longer_log()
    {
        _members.Write("/data/one", 1, entries: 6, voters: 5);
        _members.Write("/data/two", 2, entries: 3, term: 4, voters: 5);
        using var recovery = Open("/data/one");
        Assert.Contains(
            $"recover {StoppedMembers.NodeIdOf(2)} instead",
            (await recovery.SurveyAsync(["/data/two"], CancellationToken.None)).Refusal,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task While_a_majority_runs_nothing_is_recovered()
    {
        _members.Write("/data/one", 1, entries: 3);
        using var recovery = Open("/data/one", answers: 1);
        var survey = await recovery.SurveyAsync(directories: [], CancellationToken.None);
        Assert.Equal(
            $"{StoppedMembers.NodeIdOf(2)} and pi-1 are a majority of the 3 voters, so there is nothing to recover from: "
                + $"start pi-1 (/data/one), and nothing is lost.",
            survey.Refusal
        );
        Assert.True(Assert.Single(survey.Others).IsRunning);
    }

    /// <summary>
    /// A recovery would have to guess the unreadable rows and keep them for ever. An export takes only readable
    /// documents.
    /// </summary>
    [Fact]
    public async Task A_card_whose_store_cannot_start_must_be_exported_instead_of_recovered()
    {
        // The same run is damaged in a cluster of three and in a cluster of one. Damage that lets the store start is
        // skipped.
        _members.Write("/data/one", 1, entries: 3, isFlushed: true);
        _members.Write("/data/alone", 1, entries: 3, voters: 1, isFlushed: true);
        _members.Write("/data/three", 3, entries: 2, isFlushed: true);
        int refused = 0;
        foreach (var (run, same) in RunsOf("/data/one/").Zip(RunsOf("/data/alone/")))
        {
            var damaged = _disk.AfterPowerLoss(seed: 1);
            damaged.Rot(run, offset: 8, mask: 1);
            damaged.Rot(same, offset: 8, mask: 1);

            try
            {
                using var store = NodeStore.Open(
                    StoppedMembers.Options("/data/one"),
                    damaged.AfterPowerLoss(seed: 1),
                    new MemoryBudget(16 << 20),
                    NoRecorder.Instance,
                    _time
                );
                continue;
            }
            catch (DamagedException)
            {
                refused++;
            }

            using (var recovery = Open("/data/one", on: damaged))
            {
                Assert.Contains(
                    "with `rookery export --data /data/one`",
                    (await recovery.SurveyAsync(directories: [], CancellationToken.None)).Refusal,
                    StringComparison.Ordinal
                );
            }

            using var alone = Open("/data/alone", on: damaged);
            Assert.Contains(
                "with `rookery export --data /data/alone`",
                (await alone.SurveyAsync(directories: [], CancellationToken.None)).Refusal,
                StringComparison.Ordinal
            );

            // A store that cannot start does not count towards a majority.
            using var other = Open("/data/three", on: damaged);
            Assert.Contains(
                "instead, which loses less",
                (await other.SurveyAsync(["/data/one"], CancellationToken.None)).Refusal,
                StringComparison.Ordinal
            );
        }

        Assert.InRange(refused, 1, int.MaxValue);
    }

    /// <summary>Returns the paths of the runs in a data directory, in the order in which they were written.</summary>
    private string[] RunsOf(string directory) =>
        [
            .. _disk
                .Files.Where(path =>
                    path.EndsWith(".run", StringComparison.Ordinal)
                    && path.StartsWith(directory, StringComparison.Ordinal)
                )
                .Order(StringComparer.Ordinal),
        ];

    [Fact]
    public async Task Data_of_another_cluster_are_refused()
    {
        _members.Write("/data/one", 1, entries: 1);
        _members.Write("/data/two", 2, entries: 1, cluster: "another-cluster-123456");
        using var recovery = Open("/data/one");
        var failure = await Assert.ThrowsAsync<IdentityException>(() =>
            recovery.SurveyAsync(["/data/two"], CancellationToken.None)
        );
        Assert.Contains("another-cluster-123456", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_node_that_was_in_no_cluster_cannot_be_recovered()
    {
        _members.Write("/data/one", 1, entries: 1, hasIdentity: false);
        Assert.Contains(
            "is in no cluster",
            Assert.Throws<IdentityException>(() => Open("/data/one")).Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_power_cut_leaves_either_the_old_member_or_the_new_one()
    {
        const int Points = 120;
        int newMembers = 0;
        new CrashSearch { Points = Points, Runs = 1 }.Verify(
            _ =>
            {
                _members.Write("/data/one", 1, entries: 5);
                var work = _disk.AfterPowerLoss(seed: 0);
                using var recovery = Open("/data/one", on: work);
                recovery.Run([]);
                return (work, work.OperationCount);
            },
            (image, operationsOfRecovery, operation) =>
            {
                DataRecovery.Settle(image, StoppedMembers.Options("/data/one"));

                // Loading checks that identity and data belong to one node.
                using var identity = IdentityDirectory.TryLoad(image, "/data/one")!;
                using var store = NodeStore.Open(
                    StoppedMembers.Options("/data/one"),
                    image,
                    new MemoryBudget(16 << 20),
                    NoRecorder.Instance,
                    _time
                );
                bool wasRecovered = !string.Equals(identity.ClusterId, ClusterId, StringComparison.Ordinal);
                Assert.True(
                    wasRecovered || operation < operationsOfRecovery,
                    "a completed recovery survives the power cut"
                );
                Assert.Equal(wasRecovered, store.Journal.Configuration.IsEmpty);
                newMembers += wasRecovered ? 1 : 0;
            }
        );
        // Some cuts come before the recovery takes effect, and some after it.
        Assert.True(
            CrashSearch.IsReplay || newMembers is > 2 and < Points - 2,
            $"{newMembers} of {Points} cuts left the new member; some must and some must not"
        );
    }

    private static PeerHello HelloOf(string node, string cluster) =>
        new()
        {
            ClusterId = cluster,
            NodeId = node,
            StoreId = Guid.Empty,
            StartNumber = 1,
            FeatureLevel = 1,
        };

    /// <summary>Opens the recovery of a stopped member.</summary>
    /// <param name="directory">Its data directory.</param>
    /// <param name="answers">The number of its peers that are running and answer.</param>
    /// <param name="on">The disk; null for the test's.</param>
    private ClusterRecovery Open(string directory, int answers = 0, SimulatedDisk? on = null)
    {
        int askedPeers = 0;
        return ClusterRecovery.Open(
            on ?? _disk,
            StoppedMembers.Options(directory),
            new MemoryBudget(16 << 20),
            NoRecorder.Instance,
            _time,
            (_, _) => Task.FromResult(askedPeers++ < answers ? """{"LastIndex":2,"LastTerm":1}""" : null)
        );
    }

    private sealed class Everybody : IPeerAdmission
    {
        public PeerRefusal? Refuse(PeerHello hello) => null;
    }
}
