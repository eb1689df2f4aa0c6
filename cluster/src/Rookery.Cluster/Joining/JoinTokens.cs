using Rookery.Cluster.Identity;
using Rookery.Documents.Consensus;
using Rookery.Documents.Records;

namespace Rookery.Cluster.Joining;

/// <summary>
/// Gives out join tokens, and judges them when they come back. The cluster keeps hashes only. They live by the
/// cluster's time, whatever clock the member that is asked has.
/// </summary>
/// <param name="identity">This member, as it is now.</param>
/// <param name="recordStore">The cluster.</param>
public sealed class JoinTokens(Func<NodeIdentity> identity, IJoinRecordStore recordStore)
{
    /// <summary>How long a token holds unless somebody says otherwise.</summary>
    public static readonly TimeSpan DefaultLife = TimeSpan.FromHours(1);

    // As long as it can be said that a token was used, or has ended.
    private static readonly TimeSpan Memory = TimeSpan.FromDays(30);

    private static readonly DateTimeOffset Never = new(9000, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <summary>Makes a token, on any member, and forgets those that ended long ago.</summary>
    /// <param name="life">How long it holds.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <returns>The token and when it ends, or why there is none, in a sentence.</returns>
    public async ValueTask<(JoinToken? Token, DateTimeOffset Expires, string? Refusal)> CreateAsync(
        TimeSpan life,
        CancellationToken cancellationToken
    )
    {
        // Who was started just now knows the time from then on at the latest.
        if (!await recordStore.CatchUpAsync(cancellationToken))
        {
            return (null, default, "No node leads now. Nothing was made; try again when one does.");
        }

        if (recordStore.Time is not { IsSure: true, Known: { } now } sure)
        {
            return (null, default, $"No token was made. {ClusterTime.NoEnds}");
        }

        var self = identity();
        var addresses = MemberRecord
            .All(recordStore)
            .OrderByDescending(member => string.Equals(member.NodeId, self.NodeId, StringComparison.Ordinal))
            .SelectMany(member => member.Record.Addresses);
        var token = JoinToken.Create(self.ClusterId, addresses, self.Authorities[0]);
        var added = new RecordChange(
            TokenRecord.KeyOf(token.Secret),
            new TokenRecord { Created = now, Expires = now + life }.ToJson(),
            ClusterRecord.Absent
        );
        var forgotten =
            from record in recordStore.List(ClusterRecordPrefix.JoinToken)
            where TokenRecord.Parse(record.Value.Span) is not { } known || sure.IsPast(known.Expires + Memory)
            select new RecordChange(record.Key, null, null);
        var refusal = await recordStore.ChangeAsync([added, .. forgotten], cancellationToken);
        return refusal is null ? (token, now + life, null) : (null, default, refusal.Message);
    }

    /// <summary>
    /// Makes the token of a secret that was drawn for one node, once, however often it is asked for. It does not end: a
    /// new cluster may not know the time yet, and its node may come after any while.
    /// </summary>
    /// <param name="secret">Drawn at random.</param>
    /// <param name="addresses">Where members listen for members.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <returns>The token; null when it could not be made now.</returns>
    internal async ValueTask<JoinToken?> CreateAsync(
        byte[] secret,
        IEnumerable<string> addresses,
        CancellationToken cancellationToken
    )
    {
        if (!await recordStore.CatchUpAsync(cancellationToken))
        {
            return null;
        }

        string key = TokenRecord.KeyOf(secret);
        if (
            recordStore.Find(key) is null
            && await recordStore.ChangeAsync(
                [
                    new RecordChange(
                        key,
                        new TokenRecord
                        {
                            Created = recordStore.Time.Known ?? DateTimeOffset.UnixEpoch,
                            Expires = Never,
                        }.ToJson(),
                        ClusterRecord.Absent
                    ),
                ],
                cancellationToken
            )
                is not null
        )
        {
            return null;
        }

        var self = identity();
        return new JoinToken(
            self.ClusterId,
            [.. addresses.Take(JoinToken.MostAddresses)],
            ClusterAuthority.FingerprintOf(self.Authorities[0]),
            secret
        );
    }

    /// <summary>Whether the token of a secret has let its node in.</summary>
    internal bool IsUsed(byte[] secret) =>
        recordStore.Find(TokenRecord.KeyOf(secret)) is { } stored
        && TokenRecord.Parse(stored.Value.Span) is { UsedBy: not null };

    /// <summary>Why a token lets nobody in, or null.</summary>
    /// <param name="token">What the cluster keeps of it; null for one that it does not know.</param>
    internal JoinRefusal? Judge(TokenRecord? token)
    {
        string NameOf(string node) =>
            new Seats(recordStore).Of(node) is { } member ? $"{member.Name} ({member.Tag})" : node;
        const string another = "Make another one with `rookery cluster token create` on a member.";
        return token switch
        {
            null => new JoinRefusal(
                JoinError.TokenUnknown,
                $"This cluster has given out no such token, or it ended long ago. {another}"
            ),
            { UsedBy: { } node } => new JoinRefusal(
                JoinError.TokenUsed,
                $"The token has let node {NameOf(node)} in on {Text(token.Used!.Value)}, and each lets in "
                    + $"one. {another}"
            ),
            _ when recordStore.Time.IsPast(token.Expires) => new JoinRefusal(
                JoinError.TokenExpired,
                $"The token ended on {Text(token.Expires)}. {another}"
            ),
            _ => null,
        };
    }

    private static string Text(DateTimeOffset time) => $"{time.UtcDateTime:yyyy-MM-dd HH:mm} UTC";
}
