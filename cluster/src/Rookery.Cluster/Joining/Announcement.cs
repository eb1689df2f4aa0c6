using System.Net;
using Rookery.Cluster.Identity;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Records;

namespace Rookery.Cluster.Joining;

/// <summary>What a member says of itself at each start.</summary>
/// <param name="StoreId">The id of its store, new with each format.</param>
/// <param name="BootCounter">How often the store was started.</param>
/// <param name="Run">By chance, one for each start of the program.</param>
/// <param name="Addresses">Where it listens for members, <c>host:port</c>.</param>
/// <param name="ClientUrls">Where it listens for clients, by address.</param>
/// <param name="PublicUrl">Where clients reach it, if the owner said.</param>
public sealed record MemberFacts(
    Guid StoreId,
    long BootCounter,
    ulong Run,
    IReadOnlyList<string> Addresses,
    IReadOnlyList<string> ClientUrls,
    string? PublicUrl
)
{
    /// <summary>The newest format level that its program knows.</summary>
    public int NewestFormatLevel { get; init; } = FormatLevel.Newest;

    /// <summary>The format level by which it writes. Who begins a cluster brings it.</summary>
    public FormatLevel FormatLevel { get; init; } = FormatLevel.First;

    /// <summary>
    /// Where a member says that it is: where it listens, then where its owner said that it is reached; what leads
    /// nobody to it but itself comes last.
    /// </summary>
    /// <param name="listened">Where it listens now.</param>
    /// <param name="said">Where its owner said that it is reached.</param>
    public static IReadOnlyList<string> AddressesOf(IReadOnlyList<string> listened, IReadOnlyList<string> said) =>
        [
            .. listened
                .Where(static address => !IsLoopback(address))
                .Concat(said)
                .Concat(listened)
                .Distinct(StringComparer.Ordinal)
                .Take(MemberAddress.Most),
        ];

    /// <summary>
    /// What a certificate of the member is to be for: where it listens, and what its owner says that it is called.
    /// </summary>
    /// <param name="self">Who it is.</param>
    internal NodeNames NamesOf(NodeIdentity self) =>
        NamesOf(
            self.NodeName,
            self.ClusterName,
            [.. Addresses, .. ClientUrls, .. PublicUrl is null ? (string[])[] : [PublicUrl]]
        );

    /// <summary>
    /// Why clients will not believe that this is the node of its public URL, in a sentence; null when they will, or
    /// speak TLS with somebody before it.
    /// </summary>
    /// <param name="self">Who it is.</param>
    internal string? WhyNotSigned(NodeIdentity self)
    {
        if (
            PublicUrl is null
            || HostOf(PublicUrl) is not { } host
            || !ClientUrls.Any(static url => url.StartsWith("https:", StringComparison.Ordinal))
        )
        {
            return null;
        }

        var permitted = NameConstraints.In(self.Authorities[0]);
        return (IPAddress.TryParse(host, out var address) ? permitted.Permits(address) : permitted.Permits(host))
            ? null
            : $"Clients that are led to {PublicUrl} will refuse this node there: its certificate cannot be for "
                + $"{host}, because the cluster's authority may sign private addresses and names under "
                + $"{string.Join(", ", permitted.Domains)} only. Say another --public-url, or put something before "
                + $"it that has a certificate of its own; names beyond these are said with --dns at `rookery "
                + $"cluster init`.";
    }

    /// <summary>Names and addresses by which others reach a node.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="clusterName">Its cluster's.</param>
    /// <param name="places"><c>host:port</c> and URLs.</param>
    internal static NodeNames NamesOf(string name, string clusterName, IEnumerable<string> places)
    {
        string[] hosts = [.. places.Select(HostOf).OfType<string>().Distinct(StringComparer.Ordinal)];
        return new NodeNames(
            name,
            clusterName,
            [
                .. hosts
                    .Select(static host => IPAddress.TryParse(host, out var address) ? address : null)
                    .OfType<IPAddress>(),
            ]
        )
        {
            OtherDnsNames = [.. hosts.Where(static host => !IPAddress.TryParse(host, out _))],
        };
    }

    // In lower case, and without the brackets and the zone of an address.
    private static string? HostOf(string place) =>
        Uri.TryCreate(
            place.Contains("://", StringComparison.Ordinal) ? place : $"https://{place}",
            UriKind.Absolute,
            out var url
        )
            ? url.IdnHost
            : null;

    private static bool IsLoopback(string address) =>
        IPEndPoint.TryParse(address, out var endpoint) && IPAddress.IsLoopback(endpoint.Address);
}

/// <summary>Keeps a member's own record true. The first member of a cluster makes its own: nobody let it in.</summary>
/// <param name="identity">This member, as it is now.</param>
/// <param name="recordStore">The cluster.</param>
/// <param name="time">The clock.</param>
public sealed class Announcement(Func<NodeIdentity> identity, IJoinRecordStore recordStore, TimeProvider time)
{
    private const int Attempts = 5;

    /// <summary>
    /// Writes what is new; nothing when nothing is. To be called after each start, and when an address has changed.
    /// </summary>
    /// <returns>Null when the record is true; else why it could not be written now: to be tried again.</returns>
    /// <exception cref="IdentityException">The cluster knows another store under this node's id, or no node of this id
    /// any more.</exception>
    public async ValueTask<Rejection?> AnnounceAsync(MemberFacts facts, CancellationToken cancellationToken)
    {
        Rejection? refusal = null;
        for (int attempt = 0; attempt < Attempts; attempt++)
        {
            if (!await recordStore.CatchUpAsync(cancellationToken))
            {
                return new Rejection(RejectionKind.NoLeader, "No node leads now.");
            }

            string key = MemberRecord.KeyOf(identity().NodeId);
            var stored = recordStore.Find(key);
            var known = stored is null ? Founder(facts) : MemberRecord.Parse(stored.Value.Span);
            if (known is null || Same(known, facts, stored))
            {
                return null; // a newer version wrote it in its own way, or all is said
            }

            if (known.StoreId is { } store && store != facts.StoreId)
            {
                throw new IdentityException(
                    $"The cluster knows another store of node {known.Name} than the one in this data "
                        + $"directory: it was replaced or formatted. Remove the node with `rookery cluster node rm "
                        + $"{known.Name}`, and let it join anew with an empty data directory."
                );
            }

            if (known.BootCounter > facts.BootCounter)
            {
                throw new IdentityException(
                    $"This is an old copy of node {known.Name}: its store was started {facts.BootCounter} "
                        + $"times, and the cluster has met it after {known.BootCounter}. Take it out, remove the "
                        + $"node with `rookery cluster node rm {known.Name}`, and let an empty card join."
                );
            }

            // Said once: an owner who demoted it meanwhile has the last word.
            bool? isMirror = known is { StoreId: null, IsMirror: null } && identity().IsMirror ? true : known.IsMirror;
            var told = known with
            {
                StoreId = facts.StoreId,
                BootCounter = facts.BootCounter,
                Run = facts.Run,
                Addresses = facts.Addresses,
                ClientUrls = facts.ClientUrls,
                PublicUrl = facts.PublicUrl,
                IsMirror = isMirror,
                NewestFormatLevel = facts.NewestFormatLevel,
            };
            refusal = await recordStore.ChangeAsync(
                [
                    new RecordChange(key, told.ToJson(), stored?.Version ?? ClusterRecord.Absent),
                    new RecordChange(Seats.Key, [], ExpectedVersion: null),
                    .. stored is null ? LevelOfFounder(facts) : [],
                ],
                cancellationToken
            );
            if (refusal is not { Kind: RejectionKind.ConcurrencyConflict })
            {
                return refusal;
            }
        }

        return refusal;
    }

    private static bool Same(MemberRecord known, MemberFacts facts, ClusterRecord? stored) =>
        stored is not null
        && known.StoreId == facts.StoreId
        && known.BootCounter == facts.BootCounter
        && known.Run == facts.Run
        && known.NewestFormatLevel == facts.NewestFormatLevel
        && known.Addresses.SequenceEqual(facts.Addresses, StringComparer.Ordinal)
        && known.ClientUrls.SequenceEqual(facts.ClientUrls, StringComparer.Ordinal)
        && string.Equals(known.PublicUrl, facts.PublicUrl, StringComparison.Ordinal);

    private RecordChange[] LevelOfFounder(MemberFacts facts)
    {
        var stored = recordStore.Find(FormatLevel.RecordKey);
        return FormatLevel.Of(stored).Level < facts.FormatLevel.Level
            ?
            [
                new RecordChange(
                    FormatLevel.RecordKey,
                    facts.FormatLevel.ToRecord(),
                    stored?.Version ?? ClusterRecord.Absent
                ),
            ]
            : [];
    }

    private MemberRecord Founder(MemberFacts facts)
    {
        var self = identity();
        return recordStore.List(ClusterRecordPrefix.Member).Count == 0
            ? new MemberRecord
            {
                Tag = self.Tag,
                Name = self.NodeName,
                Addresses = facts.Addresses,
                PublicKey = self.Key.ExportSubjectPublicKeyInfo(),
                Joined = time.GetUtcNow(),
            }
            : throw new IdentityException(
                $"Node {self.NodeName} ({self.NodeId}) was removed from the cluster. To come back, let it "
                    + $"join anew with an empty data directory."
            );
    }
}
