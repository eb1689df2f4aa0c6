using System.Globalization;
using System.Net;
using System.Text.Json;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Log;
using Rookery.Cluster.Membership;
using Rookery.Cluster.Peers;
using Rookery.Documents.Nodes;
using Rookery.Documents.Recovery;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Recovery;

/// <summary>
/// Forced recovery after a majority was lost for good: a stopped member becomes the only voter of a new cluster of the
/// same name, with another id and another authority, so that cards of the old one are refused whenever they come back.
/// What it loses nobody can know for sure: it compares what is in reach, and the owner decides.
/// </summary>
/// <remarks>
/// The authority is a new one, although this node has the key of the old: every old member has it too.
/// </remarks>
public sealed class ClusterRecovery : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    private readonly IDisk _disk;
    private readonly NodeOptions _options;
    private readonly MemoryBudget _memory;
    private readonly IIoRecorder _io;
    private readonly TimeProvider _time;
    private readonly StoppedStore _store;
    private readonly Func<KnownPeer, CancellationToken, Task<string?>> _ask;

    private ClusterRecovery(
        IDisk disk,
        NodeOptions options,
        MemoryBudget memory,
        IIoRecorder io,
        TimeProvider time,
        Func<KnownPeer, CancellationToken, Task<string?>>? ask
    )
    {
        _ask = ask ?? AskAsync;
        (_disk, _options, _memory, _io, _time) = (disk, options, memory, io, time);
        _store = StoppedStore.Open(options, disk, memory, io, time);
        try
        {
            Identity =
                IdentityDirectory.TryLoad(disk, options.DataDirectory)
                ?? throw new IdentityException(
                    $"The node of {options.DataDirectory} is in no cluster, so there is no majority that it "
                        + $"could have lost. Start it, or restore a backup."
                );
        }
        catch
        {
            _store.Dispose();
            throw;
        }
    }

    /// <summary>Who the node is, until it is recovered.</summary>
    public NodeIdentity Identity { get; }

    /// <summary>
    /// Looks at a stopped node, and holds it so that it cannot start meanwhile. Nothing in its data changes.
    /// </summary>
    /// <exception cref="IdentityException">It is in no cluster, or its identity is damaged.</exception>
    /// <exception cref="IOException">It runs, or cannot be read.</exception>
    public static ClusterRecovery Open(
        IDisk disk,
        NodeOptions options,
        MemoryBudget memory,
        IIoRecorder io,
        TimeProvider time
    ) => Open(disk, options, memory, io, time, ask: null);

    /// <summary>As <see cref="Open(IDisk, NodeOptions, MemoryBudget, IIoRecorder, TimeProvider)"/>.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="options">Where the data are.</param>
    /// <param name="memory">What bounds memory.</param>
    /// <param name="io">Is told of disk work.</param>
    /// <param name="time">The clock.</param>
    /// <param name="ask">What a member that runs answers to the order to list the members, null when it does not
    /// answer; null to ask over the network.</param>
    internal static ClusterRecovery Open(
        IDisk disk,
        NodeOptions options,
        MemoryBudget memory,
        IIoRecorder io,
        TimeProvider time,
        Func<KnownPeer, CancellationToken, Task<string?>>? ask
    ) => new(disk, options, memory, io, time, ask);

    /// <summary>
    /// Compares what is in reach: this store, data directories of other members, and members that run.
    /// </summary>
    /// <param name="directories">Data directories of stopped members, with their journals in them: cards that were put
    /// into this machine.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="IdentityException">One of them is of another cluster, or has a damaged note in its
    /// identity.</exception>
    /// <exception cref="IOException">One of them cannot be read.</exception>
    public async Task<RecoverySurvey> SurveyAsync(
        IReadOnlyList<string> directories,
        CancellationToken cancellationToken
    )
    {
        var cards = new List<Card> { CardOf(_store, Identity.NodeName, _options.DataDirectory) };
        foreach (string directory in directories)
        {
            cards.Add(ReadCard(directory));
        }

        var own = WithAge(cards[0], cards);
        var configuration = cards[0].Configuration;
        var seen = new HashSet<NodeId> { Identity.Member };
        var others = new List<SurveyedStore>();
        List<StoppedVoter> stopped = [.. VoterOf(own, Identity.Member, configuration)];
        foreach (var card in cards.Skip(1))
        {
            var store = WithAge(card, cards);
            others.Add(store);
            if (store.OldCopy is null && seen.Add(card.Member))
            {
                stopped.AddRange(VoterOf(store, card.Member, card.Configuration));
            }
        }

        var running = new List<NodeId>();
        foreach (var peer in Identity.Peers)
        {
            if (await _ask(peer, cancellationToken) is { } listing && SurveyRunning(listing, peer) is { } store)
            {
                others.Add(store);
                seen.Add(Members.IdOf(peer.NodeId));
                running.Add(Members.IdOf(peer.NodeId));
            }
        }

        string[] outOfReach =
        [
            .. configuration
                .Voters.ToArray()
                .Where(voter => !seen.Contains(voter))
                .Select(NameOf)
                .Order(StringComparer.Ordinal),
        ];
        return new RecoverySurvey(
            own,
            others,
            configuration.Voters.Length,
            outOfReach,
            WhyNotNeeded(own, configuration, stopped, running) ?? WhyElsewhere(own, others) ?? WhyImpossible(own)
        );
    }

    /// <summary>
    /// Makes the node the only voter of the new cluster. A power cut at any moment leaves the node as it was or as it
    /// will be.
    /// </summary>
    /// <param name="addresses">Those of its interfaces, for its certificate.</param>
    /// <exception cref="UnappliedDamageException">An entry of the journal needs a row that cannot be read. Nothing
    /// changed.</exception>
    /// <exception cref="IOException">The disk refused. Nothing changed, or all.</exception>
    public RecoveredCluster Run(IReadOnlyList<IPAddress> addresses)
    {
        var recovery = new DataRecovery(_disk, _options, _memory, _io, _time);
        var ids = NodeIds.Create();
        var data = recovery.Build(_store, ids);
        using var founded = ClusterFounding.Found(
            ids,
            new NodeNames(Identity.NodeName, Identity.ClusterName, addresses),
            NameConstraints.In(Identity.Authorities[0]).Domains,
            _time.GetUtcNow()
        );
        IdentityDirectory.Create(_disk, recovery.WorkDirectory, founded);
        return new RecoveredCluster(ids, data, recovery.Decide(), founded.Authorities[0].ExportCertificatePem());
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Identity.Dispose();
        _store.Dispose();
    }

    private Card CardOf(StoppedStore store, string name, string place) =>
        new(
            new SurveyedStore(name, place, store.Last, store.LastWritten, store.Damage, IsRunning: false)
            {
                CanStart = store.StartDamage is null,
            },
            Members.IdOf(store.Ids.NodeId),
            ConfigurationEncoding.Read(store.Configuration.Span).Configuration,
            VoteEncoding.Read(store.Vote.Span).Incarnation,
            Identity
                .Peers.Select(static peer => peer.NodeId)
                .Append(Identity.NodeId)
                .Distinct(StringComparer.Ordinal)
                .ToDictionary(Members.IdOf, nodeId => StartsOf(store, nodeId))
        );

    private static long StartsOf(StoppedStore store, string nodeId) =>
        store.FindRecord(MemberRecord.KeyOf(nodeId)) is { } record && MemberRecord.Parse(record.Span) is { } member
            ? member.BootCounter
            : 0;

    /// <summary>
    /// Says of a store that it is an old copy, if any store in reach knows of a later start of it: as
    /// <see cref="MemberAdmission"/>, which will refuse it. It is started once more before it says how often it was.
    /// </summary>
    private static SurveyedStore WithAge(Card card, List<Card> cards)
    {
        var (met, by) = cards
            .Select(other => (Starts: other.Met.GetValueOrDefault(card.Member), By: other.Store.Name))
            .MaxBy(static other => other.Starts);

        // Of a journal that is damaged or gone nobody knows how often it was started: the disk may have lost it, and
        // what is left may be all that there is.
        return card.Starts == 0 || card.Store.Damage is not null || met <= card.Starts
            ? card.Store
            : card.Store with
            {
                OldCopy = string.Create(
                    CultureInfo.InvariantCulture,
                    $"{card.Store.Place} is an old copy of {card.Store.Name}: it was started {card.Starts} "
                        + $"times, and {by} has met it after {met}. Members refuse it, so it counts for nobody, "
                        + $"and what was acknowledged after it was made is not on it."
                ),
            };
    }

    /// <summary>
    /// A voter's store, if its node would do its part once started: with a damaged journal it does not by itself, and
    /// without rows that a start reads, without an identity, as an old copy or with a note against it not at all.
    /// </summary>
    private IEnumerable<StoppedVoter> VoterOf(SurveyedStore store, NodeId member, Configuration known)
    {
        bool takesPart =
            store is { Damage: null, CanStart: true, OldCopy: null }
            && IdentityDirectory.ExistsIn(_disk, store.Place)
            && IdentityDirectory.ReadRetirement(_disk, store.Place) is null;

        // A first member that never ran since it was made one begins with itself.
        bool isVoter =
            known.IsVoter(member) || (known.Voters.IsEmpty && member == Identity.Member && Identity.Peers.Count == 0);
        return takesPart && isVoter
            ? [new StoppedVoter(store, member, known.Voters.IsEmpty ? Configuration.Of([member], []) : known)]
            : [];
    }

    /// <summary>
    /// A majority runs, or would if it were started. By what each of them knows of the members: one that was off for
    /// long may know of fewer.
    /// </summary>
    private string? WhyNotNeeded(
        SurveyedStore own,
        Configuration configuration,
        List<StoppedVoter> stopped,
        List<NodeId> running
    )
    {
        var known = stopped.Count > 0 ? stopped[0].Configuration : configuration;
        NodeId[] live = [.. stopped.Select(static one => one.Member).Union(running)];
        if (
            known.Voters.IsEmpty
            || !stopped
                .Select(static one => one.Configuration)
                .Append(known)
                .All(one => live.Count(one.IsVoter) >= one.Majority)
        )
        {
            return null;
        }

        string names = NameList.Of(
            live.Where(known.IsVoter).Select(voter => voter == Identity.Member ? own.Name : NameOf(voter))
        );
        string start = NameList.Of(
            stopped
                .Select(static one => one.Store)
                .Prepend(own)
                .Where(static store => store.OldCopy is null)
                .Distinct()
                .Select(static store => $"{store.Name} ({store.Place})")
        );
        string who =
            known.Voters.Length == 1
                ? $"{names} is the only voter of the cluster"
                : $"{names} are a majority of the {known.Voters.Length} voters";
        return $"{who}, so there is nothing to recover from: start {start}, and nothing is lost.";
    }

    private static string? WhyElsewhere(SurveyedStore own, List<SurveyedStore> others)
    {
        var ahead = others.Where(other => other.IsAheadOf(own)).ToList();
        return ahead.Count == 0
            ? null
            : string.Create(
                CultureInfo.InvariantCulture,
                $"{ahead[0].Name} ({ahead[0].Place}) holds the entries through {ahead[0].Last.Index} (term "
                    + $"{ahead[0].Last.Term}), and {own.Name} those through {own.Last.Index} (term {own.Last.Term}"
                    + $"): recover {ahead[0].Name} instead, which loses less. If it cannot be recovered, stop it, "
                    + $"or leave it out of --with, and say so again."
            );
    }

    /// <summary>
    /// A new cluster would begin with guesses (a log time that falls, a database that was deleted, a number that was
    /// given) and keep them for ever; what is exported begins anew.
    /// </summary>
    private string? WhyImpossible(SurveyedStore own) =>
        _store.RecoveryDamage is not { } damage
            ? null
            : $"{own.Name} cannot be recovered, because the new cluster would need them: {damage} Recover "
                + $"another card, if there is one; or take the documents that can be read with `rookery export "
                + $"--data {own.Place}`, and import them into a new node.";

    private Card ReadCard(string directory)
    {
        using var store = StoppedStore.Open(
            _options with
            {
                DataDirectory = directory,
                JournalDirectory = null,
            },
            _disk,
            _memory,
            _io,
            _time
        );
        if (!string.Equals(store.Ids.ClusterId, Identity.ClusterId, StringComparison.Ordinal))
        {
            throw new IdentityException(
                $"{directory} holds data of the cluster {store.Ids.ClusterId}, and {_options.DataDirectory} "
                    + $"of {Identity.ClusterId}: there is nothing to compare."
            );
        }

        return CardOf(store, NameOf(store.Ids.NodeId), directory);
    }

    private SurveyedStore? SurveyRunning(string listing, KnownPeer peer)
    {
        try
        {
            using var json = JsonDocument.Parse(listing);
            var last = new JournalPosition(
                json.RootElement.GetProperty("LastIndex").GetInt64(),
                json.RootElement.GetProperty("LastTerm").GetInt64(),
                Operations: 0
            );
            return new SurveyedStore(
                NameOf(peer.NodeId),
                peer.Addresses[0],
                last,
                LastWritten: null,
                Damage: null,
                IsRunning: true
            );
        }
        catch (Exception other) when (other is JsonException or KeyNotFoundException or InvalidOperationException)
        {
            // A version that does not say how far it is.
            return null;
        }
    }

    private async Task<string?> AskAsync(KnownPeer peer, CancellationToken cancellationToken)
    {
        if (peer.Addresses.Count == 0)
        {
            return null;
        }

        using var client = PeerHttp.CreateClient(
            PeerTrust.Of(Identity),
            Members.IdOf(peer.NodeId),
            peer.Addresses,
            self: null
        );
        client.Timeout = Patience * (peer.Addresses.Count + 1);
        try
        {
            using var response = await client.PostAsync(
                new Uri($"{MembershipService.Prefix}{MemberOrder.List}?hops=0", UriKind.Relative),
                content: null,
                cancellationToken
            );
            return response.IsSuccessStatusCode ? await response.Content.ReadAsStringAsync(cancellationToken) : null;
        }
        catch (Exception silent)
            when (silent is HttpRequestException
                || (silent is OperationCanceledException && !cancellationToken.IsCancellationRequested)
            )
        {
            // Not there.
            return null;
        }
    }

    private string NameOf(NodeId member) =>
        Identity.Peers.FirstOrDefault(peer => Members.IdOf(peer.NodeId) == member) is { } peer
            ? NameOf(peer.NodeId)
            : $"member {member}";

    private string NameOf(string nodeId) =>
        _store.FindRecord(MemberRecord.KeyOf(nodeId)) is { } record && MemberRecord.Parse(record.Span) is { } member
            ? member.Name
            : nodeId;

    /// <summary>A stopped store in reach.</summary>
    /// <param name="Store">What it holds.</param>
    /// <param name="Member">Whose it is.</param>
    /// <param name="Configuration">Who votes, as far as it knows.</param>
    /// <param name="Starts">How often it was started; 0 when its journal cannot be read.</param>
    /// <param name="Met">How often others had been started when it heard of them last.</param>
    private sealed record Card(
        SurveyedStore Store,
        NodeId Member,
        Configuration Configuration,
        long Starts,
        Dictionary<NodeId, long> Met
    );

    /// <summary>A voter that is in reach and could be started.</summary>
    /// <param name="Store">What it holds.</param>
    /// <param name="Member">Who it is.</param>
    /// <param name="Configuration">Who votes, as far as it knows.</param>
    private sealed record StoppedVoter(SurveyedStore Store, NodeId Member, Configuration Configuration);
}

/// <summary>What a recovery made.</summary>
/// <param name="Ids">The new node and the new cluster.</param>
/// <param name="Data">What it holds.</param>
/// <param name="KeptSuffix">What the names of the old data end with.</param>
/// <param name="Authority">The new authority's certificate, in PEM.</param>
public sealed record RecoveredCluster(NodeIds Ids, RecoveredData Data, string KeptSuffix, string Authority);
