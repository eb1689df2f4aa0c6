using System.Security.Cryptography;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Rookery.Cluster.Contents;
using Rookery.Cluster.Forming;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Log;
using Rookery.Cluster.Peers;
using Rookery.Cluster.Transfer;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Membership;

/// <summary>
/// A node as a member of a cluster: its identity, its consensus, its connections to the other members, the port for
/// members, and their maintenance.
/// </summary>
public sealed class ClusterMember : IAsyncDisposable
{
    /// <summary>The prefix of paths that <see cref="ClusterMemberOptions.AnswerMember"/> answers.</summary>
    private const string ObservePrefix = "/observe/";

    // How often a stopping leader tries to transfer leadership, one attempt each HandOverInterval: 3 s together.
    private const int HandOverAttempts = 30;

    // The stop continues once this many consecutive intervals have passed without a forwarded command in flight.
    private const int RoundsWithoutForwards = 5;

    private static readonly TimeSpan HandOverInterval = TimeSpan.FromMilliseconds(100);

    private readonly ClusterMemberOptions _options;
    private readonly IDisk _disk;
    private readonly TimeProvider _time;
    private readonly IdentityKeeper _keeper;
    private PeerTrust _trust;
    private PeerNetwork? _network;
    private RaftConsensus? _consensus;
    private ClusterRecordStore? _recordStore;
    private WebApplication? _port;
    private MemberMaintenance? _maintenance;
    private AddressKeeper? _addressKeeper;
    private TopologyKeeper? _topology;
    private StateRoutes? _state;
    private ContentRoutes? _contents;
    private ContentClient? _contentClient;
    private MemberCatchUp? _catchUp;
    private FormingLoop? _forming;
    private Task _retiring = Task.CompletedTask;
    private string? _whyRetired;
    private bool _isStopped;

    private ClusterMember(NodeIdentity identity, IDisk disk, ClusterMemberOptions options, TimeProvider time)
    {
        _disk = disk;
        _options = options;
        _time = time;
        _trust = PeerTrust.Of(identity);
        _keeper = new IdentityKeeper(disk, options.DataDirectory, identity) { Changed = PublishIdentity };
    }

    /// <summary>The node's current identity.</summary>
    public NodeIdentity Identity => _keeper.Current;

    /// <summary>The consensus, once the data is open; null in diagnosis mode.</summary>
    public RaftConsensus? Consensus => _consensus;

    /// <summary>The members' records; null in diagnosis mode.</summary>
    public IJoinRecordStore? RecordStore => _recordStore;

    /// <summary>The rotation of the cluster's authority; null in diagnosis mode.</summary>
    public AuthorityRotation? Rotation { get; private set; }

    /// <summary>Carries out the operator's orders about members; null in diagnosis mode.</summary>
    public MembershipService? Membership { get; private set; }

    /// <summary>
    /// What this node waits for to form a cluster with other nodes, in sentences; null when it forms none.
    /// </summary>
    public string? FormingStatus => _forming?.Status;

    /// <summary>Whether the node is a voter; null in diagnosis mode or when it is not a member.</summary>
    public bool? IsVoter =>
        _consensus is { } consensus
        && consensus.ReadState().Configuration is { } members
        && members.IsMember(consensus.Self)
            ? members.IsVoter(consensus.Self)
            : null;

    /// <summary>The names of the other members; empty in diagnosis mode.</summary>
    public IReadOnlyList<string> OtherNames
    {
        get
        {
            if (_consensus is not { } consensus)
            {
                return [];
            }

            var members = consensus.ReadState().Configuration;
            return
            [
                .. consensus
                    .Roster.Entries.Where(entry => entry.Member != consensus.Self && members.IsMember(entry.Member))
                    .Select(static entry => entry.Record.Name)
                    .Order(StringComparer.Ordinal),
            ];
        }
    }

    /// <summary>The state of the connections to the other members.</summary>
    public IReadOnlyList<PeerStatus> Peers => _network?.Status() ?? [];

    /// <summary>
    /// Makes an HTTPS client for another member's port; the caller disposes it. Null when no address is known. Works
    /// without a leader.
    /// </summary>
    /// <param name="nodeId">The member's random id.</param>
    public HttpClient? ClientOf(string nodeId) => _network?.ClientOf(Members.IdOf(nodeId));

    /// <summary>Loads the identity in the data directory; null when the node has never been in a cluster.</summary>
    /// <exception cref="IdentityException">The identity is damaged, or belongs to another node.</exception>
    public static ClusterMember? TryLoad(IDisk disk, ClusterMemberOptions options, TimeProvider time) =>
        IdentityDirectory.TryLoad(disk, options.DataDirectory) is { } identity
            ? new ClusterMember(identity, disk, options, time)
            : null;

    /// <summary>Returns the node's options with the ids and the tag of its identity.</summary>
    public NodeOptions Configure(NodeOptions options) =>
        options with
        {
            NewIds = new NodeIds(Identity.NodeId, Identity.ClusterId),
            NodeTag = Identity.Tag,
            HasPeers = Identity.Peers.Count > 0,
        };

    /// <summary>
    /// Opens consensus with the other members on the node's store. Nothing is sent or accepted before
    /// <see cref="StartAsync"/>.
    /// </summary>
    /// <exception cref="IdentityException">This node must not participate any more; the message says why. The caller
    /// stays in diagnosis mode.</exception>
    public IConsensusHost OpenConsensus(NodeStore store)
    {
        // Check this before consensus starts: its opening counts the start, and makes a node without peers leader.
        if (IdentityDirectory.ReadRetirement(_disk, _options.DataDirectory) is { } retired)
        {
            throw new IdentityException(retired.Explain(Identity, _options.DataDirectory));
        }

        // Read the identity again, now that the data is locked: a join may have marked a mirror after the identity was
        // first read.
        _keeper.Change(_ => IdentityDirectory.TryLoad(_disk, _options.DataDirectory));

        var hello = new PeerHello
        {
            ClusterId = Identity.ClusterId,
            NodeId = Identity.NodeId,
            StoreId = store.Storage.StoreId,
            StartNumber = LogStart.NextStartNumber(store.Journal),
            FeatureLevel = PeerProtocol.FeatureLevel,
            StartId = BitConverter.ToUInt64(RandomNumberGenerator.GetBytes(sizeof(ulong))),
            Port = _options.Listen.Port,
        };
        _network = new PeerNetwork(
            hello,
            () => Volatile.Read(ref _trust),
            CreateAdmission(new MemberRoster(store)),
            _time,
            _options.Log,
            _options.Memory,
            _options.Note
        )
        {
            OwnAddresses = () => _addressKeeper!.Facts.Addresses,
            NameOf = node => _consensus?.Roster.Of(node) is null ? null : _consensus.Roster.NameAndTagOf(node),
        };
        _contentClient = new ContentClient(_network.ClientOf, node => _consensus!.Roster.NameAndTagOf(node), _time);
        _consensus = RaftConsensus.Open(
            store,
            new ConsensusOptions
            {
                Network = _network,
                // A node that joined knows peers from its join. A founder has none until the first node joins.
                MayFoundCluster = Identity.Peers.Count == 0,
                IsClockSynchronised = _options.IsClockSynchronised,
                BoardPenalty = _options.BoardPenalty,
                TroubleFound = _options.Log,
                RecordHaltAndExplain = fault => Retire(RetirementCause.Halted, fault),
                FetchState = (from, cancellationToken) => _catchUp!.FetchStateAsync(from, cancellationToken),
                ContentPeers = _contentClient,
            }
        );
        _network.Excluded = reason => _consensus!.HaltInDiagnosisMode(Retire(RetirementCause.Excluded, reason));
        _catchUp = new MemberCatchUp(_consensus, store, _network.ClientOf, _options.Note, _time);
        _state = new StateRoutes(store.Offers, _consensus.OfferStateAsync, _time);
        _contents = new ContentRoutes(_consensus.Contents!.Source);
        _recordStore = new ClusterRecordStore(_consensus, store.ClusterRecords, AddLearner);
        Membership = new MembershipService(_consensus, _recordStore, _network.ClientOf, _time);
        _topology = new TopologyKeeper(_consensus.Report.ReadAsLeader, _recordStore, _options.Log, _time);
        _consensus.LeadershipChanged = _topology.Wake;
        Rotation = new AuthorityRotation(() => Identity, _keeper.Change, _recordStore, _time);
        _addressKeeper = new AddressKeeper(
            _keeper,
            () =>
                new MemberFacts(
                    store.Storage.StoreId,
                    hello.StartNumber,
                    hello.StartId,
                    MemberFacts.AddressesOf(_options.Addresses(), Identity.ConfiguredAddresses),
                    _options.ClientUrls(),
                    _options.PublicUrl ?? Identity.ConfiguredUrl
                )
                {
                    NewestFormatLevel = store.Options.NewestFormatLevel,
                    FormatLevel = store.FormatLevel,
                },
            () => SigningClock.Of(_consensus.Time, _time, _options.IsClockSynchronised()),
            _options.Note
        );
        _forming = CreateFormingLoop(store);
        _maintenance = new MemberMaintenance(
            _consensus,
            _network,
            _keeper,
            _recordStore,
            Rotation,
            _addressKeeper,
            _options.ConfiguredPeers,
            _options.Browse,
            () => _catchUp.HasDamage,
            _catchUp.RepairAsync,
            _options.Log,
            _options.Note,
            _time
        );
        return _consensus;
    }

    /// <summary>
    /// Makes the loop that forms a cluster; null when forming is not configured, or for a node that joined its cluster
    /// by other means.
    /// </summary>
    private FormingLoop? CreateFormingLoop(NodeStore store)
    {
        if (
            _options.Forming is not { } forming
            || (Identity.Peers.Count > 0 && !_disk.Exists(FormingNote.PathIn(_options.DataDirectory)))
        )
        {
            return null;
        }

        try
        {
            return new FormingLoop(
                forming,
                Identity,
                _disk,
                _options,
                _recordStore!,
                () => UnclaimedNode.IsUnclaimed(store, _recordStore!, Identity),
                () => Volatile.Read(ref _trust),
                new JoinTokens(() => Identity, _recordStore!),
                () => _addressKeeper!.Facts.Addresses,
                _time
            );
        }
        catch (IdentityException damaged)
        {
            _options.Log(damaged.Message);
            return null;
        }
    }

    private MemberAdmission CreateAdmission(MemberRoster roster) =>
        new(
            Identity.NodeId,
            node => roster.Of(Members.IdOf(node))?.Record,
            node => _consensus?.Configuration.IsMember(node) is true,
            () => _consensus?.Report.HasCaughtUp is true
        );

    /// <summary>
    /// Listens for members, connects to them, and starts the maintenance of the records. Call it once the node is open.
    /// </summary>
    /// <exception cref="IOException">The address is not available for listening.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        if (_consensus is null || Volatile.Read(ref _whyRetired) is not null)
        {
            return;
        }

        if (_addressKeeper!.Facts.WhyClientsRefuseCertificate(Identity) is { } warning)
        {
            _options.Log(warning);
        }

        _network!.Start(_consensus);
        _port = PeerListener.Build(_options.Listen, _network, ConfigureHttp);
        _state!.Stopping = _port.Lifetime.ApplicationStopping;
        _contents!.Stopping = _port.Lifetime.ApplicationStopping;
        await _port.StartAsync(cancellationToken);
        _maintenance!.Start();
        _topology!.Start();
        _forming?.Start();
    }

    /// <summary>
    /// Aborts other members' fetches of this node's state, so that they ask another member. Called before
    /// <see cref="TransferLeadershipAsync"/>.
    /// </summary>
    public void BeginStop() => _port?.Lifetime.StopApplication();

    /// <summary>
    /// Transfers leadership, if this node leads, so that its stop causes no election. Waits a few seconds at most.
    /// </summary>
    public async Task TransferLeadershipAsync()
    {
        if (
            _consensus is not { } consensus
            || Volatile.Read(ref _whyRetired) is not null
            || consensus.ReadState() is { Configuration.Voters.Length: < 2 }
        )
        {
            return;
        }

        for (int attempt = 0; attempt < HandOverAttempts && consensus.ReadState().Role == Role.Leader; attempt++)
        {
            consensus.Transfer(NodeId.None);
            await Task.Delay(HandOverInterval, _time);
        }

        // Members learn of the next leader from its first heartbeat. Until then they forward commands to this node,
        // which must answer them before it stops.
        int quietRounds = 0;
        for (int round = 0; round < HandOverAttempts && quietRounds < RoundsWithoutForwards; round++)
        {
            await Task.Delay(HandOverInterval, _time);
            quietRounds = consensus.Intake.ForwardedInFlight == 0 ? quietRounds + 1 : 0;
        }
    }

    /// <summary>
    /// Stops the background loops and closes the connections. Call it before the node's data is closed. Idempotent.
    /// </summary>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isStopped, true))
        {
            return;
        }

        if (_forming is not null)
        {
            await _forming.DisposeAsync();
        }

        if (_maintenance is not null)
        {
            await _topology!.DisposeAsync();
            await _maintenance.DisposeAsync();
        }

        if (_port is not null)
        {
            await PeerListener.StopAsync(_port, _options.Log, _time);
            await _port.DisposeAsync();
        }

        if (_network is not null)
        {
            await _network.DisposeAsync();
            _contentClient!.Dispose();
        }

        await _retiring;
    }

    /// <summary>
    /// Excludes this node from the cluster, in this and all later starts. (A copy must stay excluded even when it was
    /// started more often than the original, because it may have lost acknowledged entries.)
    /// </summary>
    /// <returns>The reason, for the operator.</returns>
    private string Retire(RetirementCause cause, string reason)
    {
        var retirement = new Retirement(cause, reason);
        string sentence = retirement.Explain(Identity, _options.DataDirectory);
        if (Interlocked.CompareExchange(ref _whyRetired, sentence, null) is { } earlier)
        {
            return earlier;
        }

        // On another thread, because the caller may hold the consensus lock, or belong to a connection
        // that RetireAsync closes.
        _retiring = SocketThreads.RunOnPoolAsync(RetireAsync, retirement);
        return sentence;
    }

    private async Task RetireAsync(Retirement retirement)
    {
        try
        {
            IdentityDirectory.Retire(_disk, _options.DataDirectory, retirement);
        }
        catch (DiskException refused)
        {
            _options.Log(
                "This node no longer takes part, but its retirement note could not be written, so it would take part "
                    + $"again after a restart: {refused.Message}"
            );
        }

        await _network!.DisposeAsync();
    }

    private void PublishIdentity(NodeIdentity changed)
    {
        Volatile.Write(ref _trust, PeerTrust.Of(changed));
        _options.IdentityChanged?.Invoke(changed);
    }

    // A voter that asks again to be admitted must not become a learner.
    private ChangeAnswer AddLearner(NodeId node) =>
        _consensus!.ReadState() is { Role: Role.Leader } state && state.Configuration.IsMember(node)
            ? ChangeAnswer.NothingToDo
            : _consensus.ChangeMember(MemberChange.Learner, node);

    /// <summary>
    /// Answers a request only if it comes from a member. Refuses old copies of members, and removed members.
    /// </summary>
    private Task AnswerMemberAsync(HttpContext http, Func<HttpContext, Task> answer)
    {
        bool isRecorded =
            http.Features.Get<ProvenPeer>() is { Verdict: { Refusal: null } proven }
            && _consensus!.Roster.Of(proven.Member) is not null;

        // The recovery of a stopped member lists the members without a hello. Listing changes nothing.
        bool isListing = http.Request.Path.Value is MembershipService.Prefix + nameof(MemberOrder.List);
        string? refusal = null;
        if (!isRecorded)
        {
            refusal = "This is for members of the cluster only.";
        }
        else if (!isListing)
        {
            refusal = _network!.AdmitOrRefuse(http);
        }

        return refusal is null ? answer(http) : AnswerAsync(http, StatusCodes.Status403Forbidden, refusal);
    }

    private static Task AnswerAsync(HttpContext http, int status, string sentence)
    {
        http.Response.StatusCode = status;
        return http.Response.WriteAsync(sentence, http.RequestAborted);
    }

    private void ConfigureHttp(IApplicationBuilder app)
    {
        var routes = new JoinRoutes(new Registrar(() => Identity, _recordStore!, _time));
        app.Use(next => http => RouteAsync(http, routes, next));
    }

    private Task RouteAsync(HttpContext http, JoinRoutes routes, RequestDelegate next)
    {
        if (Volatile.Read(ref _whyRetired) is { } reason)
        {
            return AnswerAsync(http, StatusCodes.Status503ServiceUnavailable, reason);
        }

        return http.Request.Path.Value switch
        {
            JoinRoutes.AuthorityPath when HttpMethods.IsGet(http.Request.Method) => routes.ListAuthoritiesAsync(http),
            JoinRoutes.JoinPath when HttpMethods.IsPost(http.Request.Method) => routes.JoinAsync(http),
            FormingRoute.Path when HttpMethods.IsPost(http.Request.Method) && _forming is { } forming =>
                forming.Route.AnswerAsync(http),
            { } path when path.StartsWith(StateRoutes.Prefix, StringComparison.Ordinal) => AnswerMemberAsync(
                http,
                _state!.InvokeAsync
            ),
            { } path when path.StartsWith(ContentRoutes.Prefix, StringComparison.Ordinal) => AnswerMemberAsync(
                http,
                _contents!.InvokeAsync
            ),
            { } path when path.StartsWith(MembershipService.Prefix, StringComparison.Ordinal) => AnswerMemberAsync(
                http,
                Membership!.AnswerMemberAsync
            ),
            { } path
                when path.StartsWith(ObservePrefix, StringComparison.Ordinal) && _options.AnswerMember is { } answer =>
                AnswerMemberAsync(http, answer),
            _ => next(http),
        };
    }
}
