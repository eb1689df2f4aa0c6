using System.Globalization;
using System.Security.Cryptography;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Log;
using Rookery.Cluster.Peers;
using Rookery.Cluster.Transfer;
using Rookery.Disk;
using Rookery.Documents;
using Rookery.Raft;

namespace Rookery.Cluster.Membership;

/// <summary>A node's part in a cluster: its identity, the connections to the other members, the port on which they come, and the steward that keeps all of that as the records say.</summary>
public sealed class ClusterMember : IAsyncDisposable
{
    private const int HandOverAttempts = 30;
    private const int QuietRounds = 5;

    private static readonly TimeSpan HandOverInterval = TimeSpan.FromMilliseconds(100);

    private readonly ClusterMemberOptions _options;
    private readonly IDisk _disk;
    private readonly TimeProvider _time;
    private readonly IdentityKeeper _keeper;
    private PeerTrust _trust;
    private PeerNetwork? _network;
    private RaftConsensus? _consensus;
    private ConsensusDesk? _desk;
    private WebApplication? _port;
    private Steward? _steward;
    private Whereabouts? _whereabouts;
    private TopologyKeeper? _topology;
    private StateRoutes? _state;
    private Task _noting = Task.CompletedTask;
    private bool _isExcluded;
    private bool _isStopped;

    private ClusterMember(NodeIdentity identity, IDisk disk, ClusterMemberOptions options, TimeProvider time)
    {
        _disk = disk;
        _options = options;
        _time = time;
        _trust = PeerTrust.Of(identity);
        _keeper = new IdentityKeeper(disk, options.DataDirectory, identity) { Changed = Show };
    }

    /// <summary>Who it is now.</summary>
    public NodeIdentity Identity => _keeper.Current;

    /// <summary>Consensus, once the data is open; null in diagnosis mode.</summary>
    public RaftConsensus? Consensus => _consensus;

    /// <summary>The members' records, and what changes them; null in diagnosis mode.</summary>
    public IJoinDesk? Desk => _desk;

    /// <summary>Replaces the cluster's authority; null in diagnosis mode.</summary>
    public AuthorityRotation? Rotation { get; private set; }

    /// <summary>Carries out what owners order about members; null in diagnosis mode.</summary>
    public MemberOffice? Office { get; private set; }

    /// <summary>How the connections to the other members do.</summary>
    public IReadOnlyList<PeerStatus> Peers => _network?.Status() ?? [];

    /// <summary>The part of the node whose data directory it is; null for one that never was in a cluster.</summary>
    /// <exception cref="IdentityException">The identity is damaged, or is another node's; or the node found a rule of consensus broken when it ran last.</exception>
    public static ClusterMember? TryLoad(IDisk disk, ClusterMemberOptions options, TimeProvider time)
    {
        if (IdentityDirectory.TryLoad(disk, options.DataDirectory) is not { } identity)
        {
            return null;
        }

        if (IdentityDirectory.ReadHalt(disk, options.DataDirectory) is { } found)
        {
            identity.Dispose();
            string note = IdentityDirectory.HaltPathIn(options.DataDirectory);
            string advice = identity.Peers.Count == 0
                ? "It has no other member that could give its data back: keep them, and export from them with `rookery export`, or restore a backup to an empty data directory. "
                : $"If all members say that they stopped, delete {note} on each, and start them again. If the others go on, let another, empty card join in its place, with the token that `rookery cluster node replace {identity.NodeName}` prints on one of them. ";
            throw new IdentityException($"{found} It is not started again by itself. {advice}If you have looked at what happened and its data are to be used all the same, delete {note}.");
        }

        return new ClusterMember(identity, disk, options, time);
    }

    /// <summary>The node's options, as the identity wants them.</summary>
    public NodeOptions Configure(NodeOptions options) => options with
    {
        NewIds = new NodeIds(Identity.NodeId, Identity.ClusterId),
        NodeTag = Identity.Tag,
        HasPeers = Identity.Peers.Count > 0,
    };

    /// <summary>Puts consensus with the other members on the node's store. Nothing is sent or heard before <see cref="StartAsync"/>.</summary>
    public IConsensusHost OpenConsensus(NodeStore store)
    {
        var hello = new PeerHello
        {
            ClusterId = Identity.ClusterId,
            NodeId = Identity.NodeId,
            StoreId = store.StoreId,
            BootCounter = LogStart.NextIncarnation(store.Journal),
            FeatureLevel = 1,
            Run = BitConverter.ToUInt64(RandomNumberGenerator.GetBytes(sizeof(ulong))),
            Port = _options.Listen.Port,
        };
        _network = new PeerNetwork(hello, () => Volatile.Read(ref _trust), AdmissionBy(new MemberRoster(store.ClusterRecords)), _time, _options.Log, _options.Memory);
        _consensus = RaftConsensus.Open(
            store,
            new ConsensusOptions
            {
                Network = _network,

                // Who joined was told of others; who began the cluster was not, before the first joined.
                MayBegin = Identity.Peers.Count == 0,
                IsClockSynchronised = _options.IsClockSynchronised,
                TroubleFound = _options.Log,
                Halted = what => _noting = Task.Run(() => NoteHalt(what)),
                FetchState = (from, cancellationToken) => FetchStateAsync(store, from, cancellationToken),
            });
        _network.Excluded = why => Exclude(why, isNews: true);
        if (IdentityDirectory.ReadExclusion(_disk, _options.DataDirectory) is { } why)
        {
            Exclude(why, isNews: false);
        }

        _state = new StateRoutes(store.Offers, _consensus.OfferStateAsync, _time);
        _desk = new ConsensusDesk(_consensus, store.ClusterRecords, AddLearner);
        Office = new MemberOffice(_consensus, _desk, _network.ClientOf, _time);
        _topology = new TopologyKeeper(_consensus.ReadAsLeader, _desk, _options.Log, _time);
        _consensus.RoleSeen = _topology.Wake;
        Rotation = new AuthorityRotation(() => Identity, _keeper.Replace, _desk, _time);
        _whereabouts = new Whereabouts(
            _keeper,
            () => new MemberFacts(
                store.StoreId, hello.BootCounter, hello.Run, MemberFacts.AddressesOf(_options.Addresses(), Identity.SaidAddresses), _options.ClientUrls(), _options.PublicUrl ?? Identity.SaidUrl),
            () => _consensus.Time is { IsSure: true, Known: { } sure } ? sure : _time.GetUtcNow(),
            _options.Log);
        _steward = new Steward(_consensus, _network, _keeper, new Announcement(() => Identity, _desk, _time), Rotation, _whereabouts, () => store.HasDamage, (member, cancellationToken) => RepairAsync(store, member, cancellationToken), _options.Log, _time);
        return _consensus;
    }

    private MemberAdmission AdmissionBy(MemberRoster roster) => new(
        Identity.NodeId,
        node => roster.Of(Members.IdOf(node))?.Record,
        node => _consensus?.ReadState().Configuration.IsMember(node) is true,
        () => _consensus?.HasCaughtUp is true);

    /// <summary>Listens for members, connects to them, and begins to keep the records true. Once the node is open.</summary>
    /// <exception cref="IOException">The address cannot be listened on.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        if (_consensus is null || Volatile.Read(ref _isExcluded))
        {
            return;
        }

        if (_whereabouts!.Facts.WhyNotSigned(Identity) is { } foreign)
        {
            _options.Log(foreign);
        }

        _network!.Start(_consensus);
        _port = PeerListener.Build(_options.Listen, _network, ConfigureHttp);
        await _port.StartAsync(cancellationToken);
        _steward!.Start();
        _topology!.Start();
    }

    /// <summary>Gives leadership to another member, if this one leads and another can take it, so that nobody waits for an election when it stops. Waits a few seconds at most.</summary>
    public async Task HandOverAsync()
    {
        if (_consensus is not { } consensus || consensus.ReadState() is { Configuration.Voters.Length: < 2 })
        {
            return;
        }

        for (int attempt = 0; attempt < HandOverAttempts && consensus.ReadState().Role == Role.Leader; attempt++)
        {
            consensus.Transfer(NodeId.None);
            await Task.Delay(HandOverInterval, _time);
        }

        // Members hear of the next leader with its first heartbeat; until then they forward to this one, which passes it on and must not go before the answer is back.
        for (int quiet = 0, waited = 0; quiet < QuietRounds && waited < HandOverAttempts; waited++)
        {
            await Task.Delay(HandOverInterval, _time);
            quiet = consensus.ForwardedInFlight == 0 ? quiet + 1 : 0;
        }
    }

    /// <summary>Ends what it does for the cluster and its connections. Before the node's data is closed, which all of them use. Once or more.</summary>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isStopped, true))
        {
            return;
        }

        if (_steward is not null)
        {
            await _topology!.DisposeAsync();
            await _steward.DisposeAsync();
        }

        if (_port is not null)
        {
            await _port.StopAsync(CancellationToken.None);
            await _port.DisposeAsync();
        }

        if (_network is not null)
        {
            await _network.DisposeAsync();
        }

        await _noting;
    }

    /// <summary>
    /// These data are a copy, or older than what the cluster has of them. Counting its starts would let it in once it was started more often than the original, and it would vote without what that has
    /// acknowledged: so it never asks again.
    /// </summary>
    private void Exclude(string why, bool isNews)
    {
        if (Interlocked.Exchange(ref _isExcluded, true))
        {
            return;
        }

        string sentence = $"The cluster refused this node's data for good, and they take no part any more: {why} If they are the ones to keep, stop the others for good, delete {IdentityDirectory.ExclusionPathIn(_options.DataDirectory)}, and start this node again.";
        _consensus!.Exclude(sentence);
        if (!isNews)
        {
            // Nobody listens to consensus yet.
            _options.Log(sentence);
        }
        else
        {
            NoteExclusion(why);

            // Beside: it waits for its links, and one of them is what calls.
            _ = Task.Run(() => _network!.DisposeAsync().AsTask());
        }
    }

    private void NoteExclusion(string why)
    {
        try
        {
            IdentityDirectory.Exclude(_disk, _options.DataDirectory, why);
        }
        catch (DiskException refused)
        {
            _options.Log($"That the cluster refused this node's data for good could not be noted, and is forgotten with this start: {refused.Message}");
        }
    }

    // Beside consensus, which said that it halts before: a disk that fails or hangs here hides nothing.
    private void NoteHalt(string what)
    {
        try
        {
            IdentityDirectory.NoteHalt(_disk, _options.DataDirectory, what);
        }
        catch (DiskException refused)
        {
            _options.Log($"That this node stopped taking part could not be noted, so a restart would go on: {refused.Message}");
        }
    }

    private void Show(NodeIdentity changed)
    {
        Volatile.Write(ref _trust, PeerTrust.Of(changed));
        _options.IdentityChanged?.Invoke(changed);
    }

    private async Task<FetchedState> FetchStateAsync(NodeStore store, NodeId from, CancellationToken cancellationToken)
    {
        using var client = _network!.ClientOf(from) ?? throw new StateTransferException($"It is not known where member {from} is.");
        return await new StateFetch(client, store.Inbox, _time)
        {
            Since = () => store.ChangesNeededSince,
            Chosen = offer => _options.Log(Describe(offer, from)),
        }.RunAsync(cancellationToken);
    }

    private string Describe(StateOffer offer, NodeId from)
    {
        string member = _consensus!.Roster.Of(from)?.Record.Name ?? from.ToString();
        return offer.Since is { } since
            ? string.Create(CultureInfo.InvariantCulture, $"This node fell behind the journals: it takes what changed since etag {since} from {member}, {offer.Bytes} bytes instead of {offer.WholeBytes} of all files.")
            : string.Create(CultureInfo.InvariantCulture, $"This node fell behind the journals: it takes all files of {member}, {offer.Bytes} bytes{(offer.Why is { } why ? $", because {why}" : string.Empty)}.");
    }

    private async Task<int> RepairAsync(NodeStore store, NodeId from, CancellationToken cancellationToken)
    {
        if (!store.HasDamage || _network!.ClientOf(from) is not { } client)
        {
            return 0;
        }

        using (client)
        {
            return await new StateRepair(store, work => store.DoInBackgroundAsync(() => Done(work)), _time).RunAsync(client, cancellationToken);
        }
    }

    private static bool Done(Action work)
    {
        work();
        return true;
    }

    // Who votes and asks for its seat again keeps its vote: as a change it would be demoted.
    private ChangeAnswer AddLearner(NodeId node) =>
        _consensus!.ReadState() is { Role: Role.Leader } state && state.Configuration.IsMember(node) ? ChangeAnswer.NothingToDo : _consensus.ChangeMember(MemberChange.Learner, node);

    /// <summary>The state of the cluster goes to its members only, and orders come from them only: not from an old copy of one, nor from one that was removed.</summary>
    private Task AnswerMemberAsync(HttpContext http, Func<HttpContext, Task> answer)
    {
        bool isRecorded = http.Features.Get<ProvenPeer>() is { Verdict: { Refusal: null } proven } && _consensus!.Roster.Of(proven.Member) is not null;

        // A member that is stopped and to be recovered asks who is there, and changes nothing.
        bool onlyLooks = http.Request.Path.Value is MemberOffice.Prefix + nameof(MemberOrder.List);
        string? refusal = !isRecorded ? "This is for members of the cluster only." : onlyLooks ? null : _network!.Refuse(http);
        if (refusal is null)
        {
            return answer(http);
        }

        http.Response.StatusCode = StatusCodes.Status403Forbidden;
        return http.Response.WriteAsync(refusal, http.RequestAborted);
    }

    private void ConfigureHttp(IApplicationBuilder app)
    {
        var routes = new JoinRoutes(new Registrar(() => Identity, _desk!, _time));
        app.Use(next => http => http.Request.Path.Value switch
        {
            JoinRoutes.AuthorityPath when HttpMethods.IsGet(http.Request.Method) => routes.ListAuthoritiesAsync(http),
            JoinRoutes.JoinPath when HttpMethods.IsPost(http.Request.Method) => routes.JoinAsync(http),
            { } path when path.StartsWith(StateRoutes.Prefix, StringComparison.Ordinal) => AnswerMemberAsync(http, _state!.InvokeAsync),
            { } path when path.StartsWith(MemberOffice.Prefix, StringComparison.Ordinal) => AnswerMemberAsync(http, Office!.AnswerMemberAsync),
            _ => next(http),
        });
    }
}
