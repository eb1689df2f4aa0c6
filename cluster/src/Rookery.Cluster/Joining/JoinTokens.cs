using Rookery.Cluster.Identity;
using Rookery.Documents;

namespace Rookery.Cluster.Joining;

/// <summary>Gives out join tokens, and judges them when they come back. The cluster keeps hashes only.</summary>
/// <param name="identity">This member, as it is now.</param>
/// <param name="desk">The cluster.</param>
/// <param name="time">The clock.</param>
public sealed class JoinTokens(Func<NodeIdentity> identity, IJoinDesk desk, TimeProvider time)
{
    /// <summary>How long a token holds unless somebody says otherwise.</summary>
    public static readonly TimeSpan DefaultLife = TimeSpan.FromHours(1);

    // Clocks of members differ; this much is no sign of a wrong one.
    private static readonly TimeSpan ClockTolerance = TimeSpan.FromMinutes(10);

    // As long as it can be said that a token was used, or has ended.
    private static readonly TimeSpan Memory = TimeSpan.FromDays(30);

    /// <summary>Makes a token, on any member, and forgets those that ended long ago.</summary>
    /// <param name="life">How long it holds.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <returns>The token, or why there is none.</returns>
    public async ValueTask<(JoinToken? Token, Rejection? Refusal)> CreateAsync(TimeSpan life, CancellationToken cancellationToken)
    {
        var now = time.GetUtcNow();
        var self = identity();
        var addresses = MemberRecord.All(desk).OrderByDescending(member => string.Equals(member.NodeId, self.NodeId, StringComparison.Ordinal)).SelectMany(member => member.Record.Addresses);
        var token = JoinToken.Create(self.ClusterId, addresses, self.Authorities[0]);
        var added = new RecordChange(TokenRecord.KeyOf(token.Secret), new TokenRecord { Created = now, Expires = now + life }.ToJson(), ClusterRecord.Absent);
        var forgotten = from record in desk.List(ClusterRecordPrefix.JoinToken)
                        where TokenRecord.Parse(record.Value.Span) is not { } known || known.Expires + Memory < now
                        select new RecordChange(record.Key, null, null);
        var refusal = await desk.ChangeAsync([added, .. forgotten], cancellationToken);
        return refusal is null ? (token, null) : (null, refusal);
    }

    /// <summary>Why a token lets nobody in, or null.</summary>
    /// <param name="token">What the cluster keeps of it; null for one that it does not know.</param>
    internal JoinRefusal? Judge(TokenRecord? token)
    {
        const string another = "Make another one with `rookery cluster token create` on a member.";
        var now = time.GetUtcNow();
        return token switch
        {
            null => new JoinRefusal(JoinError.TokenUnknown, $"This cluster has given out no such token, or it ended long ago. {another}"),
            { UsedBy: { } node } => new JoinRefusal(JoinError.TokenUsed, $"The token has let node {node} in on {Text(token.Used!.Value)}, and each lets in one. {another}"),
            _ when now < token.Created - ClockTolerance => new JoinRefusal(
                JoinError.ClockBehind,
                $"The clock of {identity().NodeName} says {Text(now)}, and the token was made on {Text(token.Created)}: it cannot tell whether the token has ended. Set that clock, or wait until it is synchronised, and try again with the same token."),
            _ when now >= token.Expires => new JoinRefusal(JoinError.TokenExpired, $"The token ended on {Text(token.Expires)}. {another}"),
            _ => null,
        };
    }

    private static string Text(DateTimeOffset time) => $"{time.UtcDateTime:yyyy-MM-dd HH:mm} UTC";
}
