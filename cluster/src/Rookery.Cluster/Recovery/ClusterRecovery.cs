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
/// Forced recovery after a majority was lost for good. A stopped member becomes the only voter of a new cluster. The
/// new cluster has the same name but another id and another authority, so it refuses members of the old cluster. The
/// lost writes cannot be known for certain: the survey compares the accessible stores, and the operator decides.
/// </summary>
/// <remarks>The old authority cannot be reused, because every old member has its key.</remarks>
public sealed class ClusterRecovery : IDisposable
{
    private static readonly TimeSpan RequestTimeout = TimeSpan.FromSeconds(5);

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
        _disk = disk;
        _options = options;
        _memory = memory;
        _io = io;
        _time = time;
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

    /// <summary>The node's identity before the recovery.</summary>
    public NodeIdentity Identity { get; }

    /// <summary>
    /// Opens a stopped node, and locks it so that it cannot start meanwhile. Its data does not change.
    /// </summary>
    /// <exception cref="IdentityException">The node is in no cluster, or its identity is damaged.</exception>
    /// <exception cref="IOException">The node is running, or its data cannot be read.</exception>
    public static ClusterRecovery Open(
        IDisk disk,
        NodeOptions options,
        MemoryBudget memory,
        IIoRecorder io,
        TimeProvider time
    ) => Open(disk, options, memory, io, time, ask: null);

    /// <summary>
    /// Like <see cref="Open(IDisk, NodeOptions, MemoryBudget, IIoRecorder, TimeProvider)"/>, with the network
    /// replaceable.
    /// </summary>
    /// <param name="disk">The disk.</param>
    /// <param name="options">The directories of the data.</param>
    /// <param name="memory">The memory budget.</param>
    /// <param name="io">Records disk operations.</param>
    /// <param name="time">The clock.</param>
    /// <param name="ask">Asks a running member to list the members. Returns its answer, or null when it does not
    /// answer. Pass null to ask over the network.</param>
    internal static ClusterRecovery Open(
        IDisk disk,
        NodeOptions options,
        MemoryBudget memory,
        IIoRecorder io,
        TimeProvider time,
        Func<KnownPeer, CancellationToken, Task<string?>>? ask
    ) => new(disk, options, memory, io, time, ask);

    /// <summary>
    /// Compares the accessible stores: this one, data directories of other members, and running members.
    /// </summary>
    /// <param name="directories">Data directories of other stopped members, with their journals, on disks attached to
    /// this machine.</param>
    /// <param name="cancellationToken">Cancels the survey.</param>
    /// <exception cref="IdentityException">A directory belongs to another cluster, or its identity has a damaged
    /// retirement note.</exception>
    /// <exception cref="IOException">A directory cannot be read.</exception>
    public async Task<RecoverySurvey> SurveyAsync(
        IReadOnlyList<string> directories,
        CancellationToken cancellationToken
    )
    {
        var memberStores = new List<MemberStore> { MemberStoreOf(_store, Identity.NodeName, _options.DataDirectory) };
        foreach (string directory in directories)
        {
            memberStores.Add(ReadMemberStore(directory));
        }

        var own = MarkOldCopy(memberStores[0], memberStores);
        var configuration = memberStores[0].Configuration;
        var accessible = new HashSet<NodeId> { Identity.Member };
        var others = new List<SurveyedStore>();
        List<StoppedVoter> stopped = [.. VoterOf(own, Identity.Member, configuration)];
        foreach (var memberStore in memberStores.Skip(1))
        {
            var store = MarkOldCopy(memberStore, memberStores);
            others.Add(store);
            if (store.OldCopy is null && accessible.Add(memberStore.Member))
            {
                stopped.AddRange(VoterOf(store, memberStore.Member, memberStore.Configuration));
            }
        }

        var running = new List<NodeId>();
        foreach (var peer in Identity.Peers)
        {
            if (await _ask(peer, cancellationToken) is { } listing && SurveyRunning(listing, peer) is { } store)
            {
                others.Add(store);
                accessible.Add(Members.IdOf(peer.NodeId));
                running.Add(Members.IdOf(peer.NodeId));
            }
        }

        string[] outOfReach =
        [
            .. configuration
                .Voters.ToArray()
                .Where(voter => !accessible.Contains(voter))
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
    /// Makes the node the only voter of the new cluster. A power cut at any moment leaves either the old or the new
    /// node.
    /// </summary>
    /// <param name="addresses">The addresses of the node's interfaces, for its certificate.</param>
    /// <exception cref="UnappliedDamageException">A journal entry needs a row that cannot be read. Nothing
    /// changed.</exception>
    /// <exception cref="IOException">The disk failed. Either nothing changed or everything did.</exception>
    public RecoveredCluster Run(IReadOnlyList<IPAddress> addresses)
    {
        var recovery = new DataRecovery(_disk, _options, _memory, _io, _time);
        var ids = NodeIds.Create();
        var data = recovery.Build(_store, ids);
        using var founded = ClusterFounding.Found(
            ids,
            NamesAt(addresses),
            NameConstraints.ReadFrom(Identity.Authorities[0]).Domains,
            CertificateLife.SigningTime(new SigningClock(_time.GetUtcNow(), IsSure: false), Identity.Certificate),
            Identity
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

    /// <summary>Returns the node's names, with the hosts that the operator configured at its join.</summary>
    private NodeNames NamesAt(IReadOnlyList<IPAddress> addresses)
    {
        string[] configuredUrls = Identity.ConfiguredUrl is { } url ? [url] : [];
        var configured = MemberFacts.NamesOf(
            Identity.NodeName,
            Identity.ClusterName,
            [.. Identity.ConfiguredAddresses, .. configuredUrls]
        );
        return configured with { CurrentAddresses = [.. addresses, .. configured.CurrentAddresses] };
    }

    private MemberStore MemberStoreOf(StoppedStore store, string name, string place) =>
        new(
            new SurveyedStore(name, place, store.Last, store.LastWritten, store.Damage, IsRunning: false)
            {
                CanStart = store.StartDamage is null,
            },
            Members.IdOf(store.Ids.NodeId),
            ConfigurationEncoding.Read(store.Configuration.Span).Configuration,
            VoteEncoding.Read(store.Vote.Span).StartNumber,
            Identity
                .Peers.Select(static peer => peer.NodeId)
                .Append(Identity.NodeId)
                .Distinct(StringComparer.Ordinal)
                .ToDictionary(Members.IdOf, nodeId => StartsOf(store, nodeId))
        );

    private static long StartsOf(StoppedStore store, string nodeId) =>
        store.FindRecord(MemberRecord.KeyOf(nodeId)) is { } record && MemberRecord.Parse(record.Span) is { } member
            ? member.StartNumber
            : 0;

    /// <summary>
    /// Marks a store as an old copy if any accessible store recorded a later start of it. <see cref="MemberAdmission"/>
    /// would refuse such a store. An equal number is allowed, because the next start of the store gets a higher one.
    /// </summary>
    private static SurveyedStore MarkOldCopy(MemberStore memberStore, List<MemberStore> memberStores)
    {
        var (recorded, by) = memberStores
            .Select(other => (Starts: other.RecordedStarts.GetValueOrDefault(memberStore.Member), By: other.Store.Name))
            .MaxBy(static other => other.Starts);

        // A damaged or missing journal does not show the number of starts, and such a store may hold the only copy of
        // the data.
        return memberStore.Starts == 0 || memberStore.Store.Damage is not null || recorded <= memberStore.Starts
            ? memberStore.Store
            : memberStore.Store with
            {
                OldCopy = string.Create(
                    CultureInfo.InvariantCulture,
                    $"{memberStore.Store.Place} is an old copy of {memberStore.Store.Name}: it was started "
                        + $"{memberStore.Starts} times, but {by} has already seen start {recorded}. Members refuse it, "
                        + $"so it is not a voter, and what was acknowledged after it was made is not on it."
                ),
            };
    }

    /// <summary>
    /// Returns a voter's store if its node would participate once started; otherwise nothing. A node does not
    /// participate if its journal is damaged, rows that a start reads are missing, it has no identity, it is an old
    /// copy, or its identity has a retirement note.
    /// </summary>
    private IEnumerable<StoppedVoter> VoterOf(SurveyedStore store, NodeId member, Configuration known)
    {
        bool takesPart =
            store is { Damage: null, CanStart: true, OldCopy: null }
            && IdentityDirectory.ExistsIn(_disk, store.Place)
            && IdentityDirectory.ReadRetirement(_disk, store.Place) is null;

        // A founder that was never started has no configuration yet. It becomes the only voter at its first start.
        bool isVoter =
            known.IsVoter(member) || (known.Voters.IsEmpty && member == Identity.Member && Identity.Peers.Count == 0);
        return takesPart && isVoter
            ? [new StoppedVoter(store, member, known.Voters.IsEmpty ? Configuration.Of([member], []) : known)]
            : [];
    }

    /// <summary>
    /// Returns why no recovery is needed (a majority is running or can be started), or null. There must be a majority
    /// in the configuration of every store, because a member that was off for long may know an older configuration.
    /// </summary>
    private string? WhyNotNeeded(
        SurveyedStore own,
        Configuration configuration,
        List<StoppedVoter> stopped,
        List<NodeId> running
    )
    {
        var known = stopped.Count > 0 ? stopped[0].Configuration : configuration;
        NodeId[] live = [.. stopped.Select(static voter => voter.Member).Union(running)];
        if (
            known.Voters.IsEmpty
            || !stopped
                .Select(static voter => voter.Configuration)
                .Append(known)
                .All(members => live.Count(members.IsVoter) >= members.Majority)
        )
        {
            return null;
        }

        string names = NameList.Of(
            live.Where(known.IsVoter).Select(voter => voter == Identity.Member ? own.Name : NameOf(voter))
        );
        string start = NameList.Of(
            stopped
                .Select(static voter => voter.Store)
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
                    + $"or leave it out of --with, and run the command again."
            );
    }

    /// <summary>
    /// Returns why the store cannot be recovered, or null. Without the damaged rows, the new cluster would keep wrong
    /// values for ever: a log time that decreases, a deleted database, a number assigned twice. Exported documents can
    /// be imported into a new node instead.
    /// </summary>
    private string? WhyImpossible(SurveyedStore own) =>
        _store.RecoveryDamage is not { } damage
            ? null
            : $"{own.Name} cannot be recovered, because the new cluster would need rows that cannot be read: "
                + $"{damage} Recover another member, if one is left; or export the readable documents with `rookery "
                + $"export --data {own.Place}`, and import them into a new node.";

    private MemberStore ReadMemberStore(string directory)
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

        return MemberStoreOf(store, NameOf(store.Ids.NodeId), directory);
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
            // The member runs an older version, whose listing lacks the last entry.
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
        client.Timeout = RequestTimeout * (peer.Addresses.Count + 1);
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
            // The member does not answer.
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

    /// <summary>An accessible store of a stopped member.</summary>
    /// <param name="Store">The position and state of its log.</param>
    /// <param name="Member">The member that owns it.</param>
    /// <param name="Configuration">The newest configuration in its journal.</param>
    /// <param name="Starts">The number of its starts; 0 when its journal cannot be read.</param>
    /// <param name="RecordedStarts">For each member, the number of its starts that this store last recorded.</param>
    private sealed record MemberStore(
        SurveyedStore Store,
        NodeId Member,
        Configuration Configuration,
        long Starts,
        Dictionary<NodeId, long> RecordedStarts
    );

    /// <summary>An accessible stopped voter whose node can be started.</summary>
    /// <param name="Store">The position and state of its log.</param>
    /// <param name="Member">The member.</param>
    /// <param name="Configuration">The newest configuration in its journal.</param>
    private sealed record StoppedVoter(SurveyedStore Store, NodeId Member, Configuration Configuration);
}

/// <summary>The result of a recovery.</summary>
/// <param name="Ids">The ids of the new node and the new cluster.</param>
/// <param name="Data">The contents of the recovered data.</param>
/// <param name="KeptSuffix">The suffix of the renamed old data directories.</param>
/// <param name="Authority">The new authority's certificate, in PEM.</param>
public sealed record RecoveredCluster(NodeIds Ids, RecoveredData Data, string KeptSuffix, string Authority);
