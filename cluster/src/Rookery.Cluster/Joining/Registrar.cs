using System.Security.Cryptography.X509Certificates;
using Rookery.Cluster.Identity;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Records;
using Rookery.Raft;

namespace Rookery.Cluster.Joining;

/// <summary>
/// Admits nodes to the cluster, on the leader: takes a token and a public key; makes the node a learner and returns its
/// certificate.
/// </summary>
/// <remarks>
/// One command marks the token as used and stores the member's record. So a token admits at most one node, and no two
/// nodes get the same tag or name. The later steps (learner, certificate) can be repeated: if an answer is lost or
/// the leader changes, asking again with the same token, id and key returns the same seat.
/// </remarks>
/// <param name="identity">Returns this member's current identity.</param>
/// <param name="recordStore">The cluster's records.</param>
/// <param name="time">The clock.</param>
public sealed class Registrar(Func<NodeIdentity> identity, IJoinRecordStore recordStore, TimeProvider time)
{
    private const int Attempts = 5;

    private static readonly TimeSpan PauseBetweenAttempts = TimeSpan.FromMilliseconds(200);

    private readonly JoinTokens _tokens = new(identity, recordStore);

    private DateTimeOffset Now => recordStore.Time.Known ?? time.GetUtcNow();

    /// <summary>The authorities that members trust.</summary>
    internal AuthorityList Authorities =>
        new() { Authorities = [.. identity().Authorities.Select(authority => authority.RawData)] };

    /// <summary>Admits a node, or returns why not.</summary>
    internal async ValueTask<(JoinAnswer? Answer, JoinRefusal? Refusal)> AdmitAsync(
        JoinRequest request,
        CancellationToken cancellationToken
    )
    {
        // Do no work for a node before it presents a known token: any program can send a request. Catch up first,
        // because the token may be new.
        if (!recordStore.IsLeader)
        {
            return (null, ReferToLeader());
        }

        if (recordStore.Find(TokenRecord.KeyOf(request.Secret)) is null)
        {
            if (!await recordStore.CatchUpAsync(cancellationToken))
            {
                return (null, ReferToLeader());
            }

            if (recordStore.Find(TokenRecord.KeyOf(request.Secret)) is null)
            {
                return (null, _tokens.Judge(token: null));
            }
        }

        if (
            NodeKey.ReadRequest(request.CertificateRequest) is not { } key
            || request.NodeId.Length != HistoryId.Length
            || !ClusterRecord.IsKey(request.NodeId)
        )
        {
            return (
                null,
                new JoinRefusal(
                    JoinError.Malformed,
                    "The request to join is malformed, or the node does not hold the private key for the "
                        + "certificate that it requests."
                )
            );
        }

        if (!MemberName.IsValid(request.Name))
        {
            return (
                null,
                new JoinRefusal(
                    JoinError.NameInvalid,
                    $"\"{request.Name}\" cannot be a node's name. {MemberName.Rule} Choose another name with --name."
                )
            );
        }

        if (
            request.Addresses.Count is 0 or > MemberAddress.MaxAddresses
            || !request.Addresses.All(MemberAddress.IsValid)
        )
        {
            return (
                null,
                new JoinRefusal(
                    JoinError.Malformed,
                    $"The node must name 1 to {MemberAddress.MaxAddresses} addresses at which members reach it, and "
                        + $"each must be valid. {MemberAddress.Rule}"
                )
            );
        }

        if (request.PublicUrl is { } url && !MemberAddress.IsClientUrl(url))
        {
            return (
                null,
                new JoinRefusal(
                    JoinError.Malformed,
                    "The node's URL for clients is not valid. Write it like https://pi-2.lan:8443."
                )
            );
        }

        for (int attempt = 0; attempt < Attempts; attempt++)
        {
            if (!recordStore.IsLeader || !await recordStore.CatchUpAsync(cancellationToken))
            {
                return (null, ReferToLeader());
            }

            var agreed = FormatLevel.Of(recordStore.Find(FormatLevel.RecordKey));
            if (Math.Max(request.NewestFormatLevel, FormatLevel.First.Level) < agreed.Level)
            {
                return (
                    null,
                    new JoinRefusal(
                        JoinError.Malformed,
                        $"The cluster is written at format level {agreed.Level}, which the program of "
                            + $"{request.Name} does not know: install version {agreed.Program} or a newer one on "
                            + $"it, and try again with the same token."
                    )
                );
            }

            // The seat is taken even if the caller disconnects, because it may return and continue with this seat.
            var (seat, refusal) = await TakeSeatAsync(request, key);
            if (refusal is not null)
            {
                return (null, refusal);
            }

            if (seat is not null)
            {
                return await CompleteAsync(request, key, seat);
            }
        }

        return (null, RefuseAsBusy());
    }

    /// <summary>
    /// Returns the node's seat (its member record), or assigns a new one. Returns neither seat nor refusal when the
    /// seats changed concurrently.
    /// </summary>
    private async ValueTask<(MemberRecord? Seat, JoinRefusal? Refusal)> TakeSeatAsync(
        JoinRequest request,
        PublicKey key
    )
    {
        var seats = new Seats(recordStore);
        var stored = recordStore.Find(TokenRecord.KeyOf(request.Secret));
        var token = stored is null ? null : TokenRecord.Parse(stored.Value.Span);
        byte[] publicKey = key.ExportSubjectPublicKeyInfo();
        var existing =
            seats.Of(request.NodeId) is { } recorded && recorded.PublicKey.AsSpan().SequenceEqual(publicKey)
                ? recorded
                : null;
        if (existing is not null && string.Equals(token?.UsedBy, request.NodeId, StringComparison.Ordinal))
        {
            return (existing, null);
        }

        var refusal = _tokens.Judge(token);
        if (refusal is null && existing is null)
        {
            refusal = seats.Judge(request);
        }

        if (refusal is not null)
        {
            return (null, refusal);
        }

        var now = Now;
        var used = new RecordChange(
            stored!.Key,
            (token! with { UsedBy = request.NodeId, Used = now }).ToJson(),
            stored.Version
        );
        if (existing is not null)
        {
            // The node was admitted with another token before, and the answer was lost.
            return SeatOrRefusal(await recordStore.ChangeAsync([used], CancellationToken.None), existing);
        }

        var seat = new MemberRecord
        {
            Tag = seats.FreeTag!,
            Name = request.Name,
            Addresses = request.Addresses,
            PublicKey = publicKey,
            PublicUrl = request.PublicUrl,
            Joined = now,
        };
        return SeatOrRefusal(
            await recordStore.ChangeAsync(
                [
                    used,
                    new RecordChange(MemberRecord.KeyOf(request.NodeId), seat.ToJson(), ClusterRecord.Absent),
                    seats.Guard(),
                ],
                CancellationToken.None
            ),
            seat
        );
    }

    private static (MemberRecord? Seat, JoinRefusal? Refusal) SeatOrRefusal(Rejection? rejection, MemberRecord seat) =>
        rejection switch
        {
            null => (seat, null),
            { Kind: RejectionKind.ConcurrencyConflict } => (null, null),
            _ => (null, new JoinRefusal(JoinError.Unavailable, rejection.Message + " Try again with the same token.")),
        };

    private async ValueTask<(JoinAnswer? Answer, JoinRefusal? Refusal)> CompleteAsync(
        JoinRequest request,
        PublicKey key,
        MemberRecord seat
    )
    {
        for (int attempt = 0; attempt < Attempts; attempt++)
        {
            switch (recordStore.AddLearner(Members.IdOf(request.NodeId)))
            {
                case ChangeAnswer.Accepted or ChangeAnswer.NothingToDo:
                    return (Sign(request, key, seat), null);
                case ChangeAnswer.NotLeader:
                    return (null, ReferToLeader());
                default:
                    await Task.Delay(PauseBetweenAttempts, time);
                    break;
            }
        }

        return (null, RefuseAsBusy());
    }

    private JoinAnswer Sign(JoinRequest request, PublicKey key, MemberRecord seat)
    {
        var self = identity();
        string[] publicUrls = seat.PublicUrl is null ? [] : [seat.PublicUrl];
        using var authority = self.OpenAuthority();
        using var certificate = authority.SignNode(
            key,
            request.NodeId,
            MemberFacts.NamesOf(seat.Name, self.ClusterName, [.. seat.Addresses, .. publicUrls]),
            Now
        );
        return new JoinAnswer
        {
            ClusterId = self.ClusterId,
            ClusterName = self.ClusterName,
            Name = seat.Name,
            Tag = seat.Tag,
            Certificate = certificate.RawData,
            Authorities = Authorities.Authorities,
            SealedAuthorityKey = authority.SealKeyFor(key),
            Members =
            [
                .. from other in MemberRecord.All(recordStore)
                where !string.Equals(other.NodeId, request.NodeId, StringComparison.Ordinal)
                select new JoinedPeer
                {
                    NodeId = other.NodeId,
                    Name = other.Record.Name,
                    Addresses = other.Record.Addresses,
                },
            ],
        };
    }

    private JoinRefusal ReferToLeader() =>
        recordStore.LeaderAddresses is { Count: > 0 } leader && !recordStore.IsLeader
            ? new JoinRefusal(JoinError.NotLeader, "Another member leads; ask it.") { Leader = leader }
            : new JoinRefusal(
                JoinError.Unavailable,
                "No member leads now, so no node can join: no majority of the voters reach each other. "
                    + "Try again with the same token when a leader is elected."
            );

    private static JoinRefusal RefuseAsBusy() =>
        new(
            JoinError.Unavailable,
            "The cluster is busy with another change of its members. Try again with the same token in a moment."
        );
}
