using System.Net;
using Rookery.Cluster.Identity;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Records;

namespace Rookery.Cluster.Joining;

/// <summary>The facts that a member announces about itself at each start.</summary>
/// <param name="StoreId">The id of the member's store, new each time a data directory is formatted.</param>
/// <param name="StartNumber">How often the member's store was started, including this start.</param>
/// <param name="StartId">A random id of this start of the process.</param>
/// <param name="Addresses">The addresses at which it listens for members, <c>host:port</c>.</param>
/// <param name="ClientUrls">The URLs at which it listens for clients, with IP addresses.</param>
/// <param name="PublicUrl">The URL at which clients reach it, as configured by the operator; null for none.</param>
public sealed record MemberFacts(
    Guid StoreId,
    long StartNumber,
    ulong StartId,
    IReadOnlyList<string> Addresses,
    IReadOnlyList<string> ClientUrls,
    string? PublicUrl
)
{
    /// <summary>The newest format level that its version supports.</summary>
    public int NewestFormatLevel { get; init; } = FormatLevel.Newest;

    /// <summary>The format level at which its data is written. A new cluster adopts its founder's.</summary>
    public FormatLevel FormatLevel { get; init; } = FormatLevel.First;

    /// <summary>
    /// Combines a member's addresses in this order: those at which it listens, the configured ones, and the loopback
    /// ones, which work only on its own machine. If there are too many, the configured ones are kept: the operator
    /// configures addresses because those at which the member listens do not suffice.
    /// </summary>
    /// <param name="listened">The addresses at which it listens now.</param>
    /// <param name="configured">The addresses that the operator configured.</param>
    public static IReadOnlyList<string> AddressesOf(IReadOnlyList<string> listened, IReadOnlyList<string> configured)
    {
        int room = MemberAddress.MaxAddresses - configured.Distinct(StringComparer.Ordinal).Count();
        return
        [
            .. listened
                .Where(static address => !IsLoopback(address))
                .Distinct(StringComparer.Ordinal)
                .Take(room)
                .Concat(configured)
                .Concat(listened)
                .Distinct(StringComparer.Ordinal)
                .Take(MemberAddress.MaxAddresses),
        ];
    }

    /// <summary>
    /// Returns the names and addresses that the member's certificate must contain: those at which it listens, and those
    /// that the operator configured.
    /// </summary>
    /// <param name="self">The member's identity.</param>
    internal NodeNames NamesOf(NodeIdentity self)
    {
        List<string> addresses = [.. Addresses, .. ClientUrls];
        if (PublicUrl is not null)
        {
            addresses.Add(PublicUrl);
        }

        return NamesOf(self.NodeName, self.ClusterName, addresses);
    }

    /// <summary>
    /// Returns why clients will refuse this node's certificate at its public URL, in a sentence; null when they will
    /// not, or when a proxy terminates TLS.
    /// </summary>
    /// <param name="self">The member's identity.</param>
    internal string? WhyClientsRefuseCertificate(NodeIdentity self)
    {
        if (
            PublicUrl is null
            || HostOf(PublicUrl) is not { } host
            || !ClientUrls.Any(static url => url.StartsWith("https:", StringComparison.Ordinal))
        )
        {
            return null;
        }

        var permitted = NameConstraints.ReadFrom(self.Authorities[0]);
        bool isPermitted = IPAddress.TryParse(host, out var address)
            ? permitted.Permits(address)
            : permitted.Permits(host);
        return isPermitted
            ? null
            : $"Clients that are led to {PublicUrl} will refuse this node there: its certificate cannot be for "
                + $"{host}, because the cluster's authority may sign private addresses and names under "
                + $"{string.Join(", ", permitted.Domains)} only. Set another --public-url, or put a proxy with its "
                + $"own certificate in front of this node. To permit other names, create the cluster with `rookery "
                + $"cluster init --dns NAME`.";
    }

    /// <summary>Returns the names and addresses by which members and clients reach a node.</summary>
    /// <param name="name">The node's name.</param>
    /// <param name="clusterName">The cluster's name.</param>
    /// <param name="addresses">Addresses, <c>host:port</c>, and URLs.</param>
    internal static NodeNames NamesOf(string name, string clusterName, IEnumerable<string> addresses)
    {
        string[] hosts = [.. addresses.Select(HostOf).OfType<string>().Distinct(StringComparer.Ordinal)];
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

    // The host in lower case, without the brackets and the zone of an IPv6 address.
    private static string? HostOf(string address) =>
        Uri.TryCreate(
            address.Contains("://", StringComparison.Ordinal) ? address : $"https://{address}",
            UriKind.Absolute,
            out var url
        )
            ? url.IdnHost
            : null;

    private static bool IsLoopback(string address) =>
        IPEndPoint.TryParse(address, out var endpoint) && IPAddress.IsLoopback(endpoint.Address);
}

/// <summary>
/// Keeps a member's own record up to date. The founder of a cluster also creates its record; other members' records are
/// created when they are admitted.
/// </summary>
/// <param name="identity">Returns this member's current identity.</param>
/// <param name="recordStore">The cluster's records.</param>
/// <param name="time">The clock.</param>
public sealed class Announcement(Func<NodeIdentity> identity, IJoinRecordStore recordStore, TimeProvider time)
{
    private const int Attempts = 5;

    /// <summary>
    /// Writes the record if the facts changed. Call it after each start and when an address has changed.
    /// </summary>
    /// <returns>Null when the record is up to date; otherwise why it could not be written now: try again.</returns>
    /// <exception cref="IdentityException">The cluster knows another store under this node's id, or has removed this
    /// node.</exception>
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
            var known = stored is null ? MakeFounderRecord(facts) : MemberRecord.Parse(stored.Value.Span);
            if (known is null || IsCurrent(known, facts, stored))
            {
                return null; // the record is in an unknown format of a newer version, or it is up to date
            }

            if (known.StoreId is { } store && store != facts.StoreId)
            {
                throw new IdentityException(
                    $"This data directory contains another store than the cluster knows for node {known.Name}: the "
                        + $"directory was replaced or formatted. Remove the node with `rookery cluster node rm "
                        + $"{known.Name}`, and let it join anew with an empty data directory."
                );
            }

            if (known.StartNumber > facts.StartNumber)
            {
                throw new IdentityException(
                    $"This is an old copy of node {known.Name}: its store was started {facts.StartNumber} "
                        + $"times, but the cluster has already seen start {known.StartNumber}. Stop this node, remove "
                        + $"it with `rookery cluster node rm {known.Name}`, and let a node with an empty data "
                        + $"directory join."
                );
            }

            // Announce the mirror only once, so that a later demotion by the operator prevails.
            bool isFirstAnnouncement = known is { StoreId: null, IsMirror: null };
            bool? isMirror = isFirstAnnouncement && identity().IsMirror ? true : known.IsMirror;
            var updated = known with
            {
                StoreId = facts.StoreId,
                StartNumber = facts.StartNumber,
                StartId = facts.StartId,
                Addresses = facts.Addresses,
                ClientUrls = facts.ClientUrls,
                PublicUrl = facts.PublicUrl,
                IsMirror = isMirror,
                NewestFormatLevel = facts.NewestFormatLevel,
            };
            refusal = await recordStore.ChangeAsync(
                [
                    new RecordChange(key, updated.ToJson(), stored?.Version ?? ClusterRecord.Absent),
                    new RecordChange(Seats.Key, [], ExpectedVersion: null),
                    .. stored is null ? ChangeToFounderLevel(facts) : [],
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

    private static bool IsCurrent(MemberRecord known, MemberFacts facts, ClusterRecord? stored) =>
        stored is not null
        && known.StoreId == facts.StoreId
        && known.StartNumber == facts.StartNumber
        && known.StartId == facts.StartId
        && known.NewestFormatLevel == facts.NewestFormatLevel
        && known.Addresses.SequenceEqual(facts.Addresses, StringComparer.Ordinal)
        && known.ClientUrls.SequenceEqual(facts.ClientUrls, StringComparer.Ordinal)
        && string.Equals(known.PublicUrl, facts.PublicUrl, StringComparison.Ordinal);

    /// <summary>
    /// Returns the change to the founder's format level; empty when the cluster has that level or more.
    /// </summary>
    private RecordChange[] ChangeToFounderLevel(MemberFacts facts)
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

    /// <summary>Makes the record of the cluster's first member.</summary>
    /// <exception cref="IdentityException">The cluster has members, so it removed this node.</exception>
    private MemberRecord MakeFounderRecord(MemberFacts facts)
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
