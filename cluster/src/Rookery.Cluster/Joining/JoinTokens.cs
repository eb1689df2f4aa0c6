using Rookery.Cluster.Identity;
using Rookery.Documents.Consensus;
using Rookery.Documents.Records;

namespace Rookery.Cluster.Joining;

/// <summary>
/// Issues join tokens, and checks the tokens that nodes present. The cluster stores only hashes of their secrets.
/// Tokens expire by the cluster's time, not by a member's clock.
/// </summary>
/// <param name="identity">Returns this member's current identity.</param>
/// <param name="recordStore">The cluster's records.</param>
public sealed class JoinTokens(Func<NodeIdentity> identity, IJoinRecordStore recordStore)
{
    /// <summary>The default lifetime of a token.</summary>
    public static readonly TimeSpan DefaultLife = TimeSpan.FromHours(1);

    // How long used and expired tokens are kept, so that a refusal can report what happened to them.
    private static readonly TimeSpan RetentionPeriod = TimeSpan.FromDays(30);

    private static readonly DateTimeOffset Never = new(9000, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <summary>Issues a token, on any member, and deletes tokens that expired long ago.</summary>
    /// <param name="life">The token's lifetime.</param>
    /// <param name="cancellationToken">Cancels.</param>
    /// <returns>The token and its expiry, or why none was issued, in a sentence.</returns>
    public async ValueTask<(JoinToken? Token, DateTimeOffset Expires, string? Refusal)> CreateAsync(
        TimeSpan life,
        CancellationToken cancellationToken
    )
    {
        // This also ensures that a node that has just started knows the cluster's time.
        if (!await recordStore.CatchUpAsync(cancellationToken))
        {
            return (null, default, "No node leads now. Nothing was made; try again when a leader is elected.");
        }

        var clusterTime = recordStore.Time;
        if (clusterTime is not { IsSure: true, Known: { } now })
        {
            return (null, default, $"No token was made. {ClusterTime.TimeInDoubtMessage}");
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
        var deleted =
            from record in recordStore.List(ClusterRecordPrefix.JoinToken)
            where
                TokenRecord.Parse(record.Value.Span) is not { } known
                || clusterTime.IsPast(known.Expires + RetentionPeriod)
            select new RecordChange(record.Key, Value: null, ExpectedVersion: null);
        var refusal = await recordStore.ChangeAsync([added, .. deleted], cancellationToken);
        return refusal is null ? (token, now + life, null) : (null, default, refusal.Message);
    }

    /// <summary>
    /// Issues a token with a given secret; repeated calls return the same token. The token does not expire, because a
    /// new cluster may not know the time yet and the node may join much later.
    /// </summary>
    /// <param name="secret">A random secret.</param>
    /// <param name="addresses">The members' addresses for members.</param>
    /// <param name="cancellationToken">Cancels.</param>
    /// <returns>The token; null when it cannot be issued now.</returns>
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
        if (recordStore.Find(key) is null)
        {
            var record = new TokenRecord
            {
                Created = recordStore.Time.Known ?? DateTimeOffset.UnixEpoch,
                Expires = Never,
            };
            var added = new RecordChange(key, record.ToJson(), ClusterRecord.Absent);
            var refusal = await recordStore.ChangeAsync([added], cancellationToken);
            if (refusal is not null)
            {
                return null;
            }
        }

        var self = identity();
        return new JoinToken(
            self.ClusterId,
            [.. addresses.Take(JoinToken.MaxAddresses)],
            ClusterAuthority.FingerprintOf(self.Authorities[0]),
            secret
        );
    }

    /// <summary>Whether the token with this secret has admitted a node.</summary>
    internal bool IsUsed(byte[] secret) =>
        recordStore.Find(TokenRecord.KeyOf(secret)) is { } stored
        && TokenRecord.Parse(stored.Value.Span) is { UsedBy: not null };

    /// <summary>Returns why a token admits no node; null when it does.</summary>
    /// <param name="token">The token's record; null when the cluster has none.</param>
    internal JoinRefusal? Judge(TokenRecord? token)
    {
        string NameOf(string node) =>
            new Seats(recordStore).Of(node) is { } member ? $"{member.Name} ({member.Tag})" : node;
        const string advice = "Make another one with `rookery cluster token create` on a member.";
        return token switch
        {
            null => new JoinRefusal(
                JoinError.TokenUnknown,
                $"This cluster issued no such token, or the token expired long ago. {advice}"
            ),
            { UsedBy: { } node } => new JoinRefusal(
                JoinError.TokenUsed,
                $"The token admitted node {NameOf(node)} on {FormatTime(token.Used!.Value)}, and each token admits "
                    + $"one node. {advice}"
            ),
            _ when recordStore.Time.IsPast(token.Expires) => new JoinRefusal(
                JoinError.TokenExpired,
                $"The token expired on {FormatTime(token.Expires)}. {advice}"
            ),
            _ => null,
        };
    }

    private static string FormatTime(DateTimeOffset time) => $"{time.UtcDateTime:yyyy-MM-dd HH:mm} UTC";
}
