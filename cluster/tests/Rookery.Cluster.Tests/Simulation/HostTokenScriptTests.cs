using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Tests.Identity;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>
/// Join tokens in a cluster with one wrong clock: of the member that issues the token, of the leader that checks it, or
/// of a follower.
/// </summary>
public sealed class HostTokenScriptTests : IDisposable
{
    private readonly ClusterAuthority _authority = TestAuthority.Create();
    private readonly NodeIdentity _identity;

    public HostTokenScriptTests() => _identity = TestAuthority.CreateIdentity(_authority);

    public void Dispose()
    {
        _identity.Dispose();
        _authority.Dispose();
    }

    // A year, the number of the member whose clock has it, and the number of the member that issues the token.
    [Theory]
    [InlineData(1970, 0, 1)]
    [InlineData(1970, 1, 1)]
    [InlineData(1970, 2, 1)]
    [InlineData(1970, 0, 0)]
    [InlineData(2080, 0, 1)]
    [InlineData(2080, 1, 1)]
    [InlineData(2080, 2, 1)]
    [InlineData(2080, 0, 0)]
    public void A_token_expires_on_time_whichever_of_three_clocks_is_wrong(int year, int wrongClock, int issuer)
    {
        using var cluster = SteppedCluster.Of(members: 3);
        var leader = cluster.AwaitLeader();
        cluster.Members[wrongClock].Time.SetToYear(year);
        cluster.RunFor(milliseconds: 3000);
        // Issuing the second token must not delete the first one as if it had expired long ago.
        string earlier = IssueToken(cluster, cluster.Members[issuer]);
        string token = IssueToken(cluster, cluster.Members[issuer]);
        Assert.All(
            [leader, cluster.B, cluster.C],
            judge =>
            {
                Assert.Null(Judge(cluster, judge, earlier));
                Assert.Null(Judge(cluster, judge, token));
            }
        );

        cluster.RunFor(JoinTokens.DefaultLife.TotalMilliseconds);
        Assert.All(
            [leader, cluster.B, cluster.C],
            judge => Assert.Equal(JoinError.TokenExpired, Judge(cluster, judge, token)?.Error)
        );
    }

    [Theory]
    [InlineData(1970)]
    [InlineData(2080)]
    public void While_most_clocks_are_wrong_tokens_stay_valid_and_none_is_issued(int year)
    {
        using var cluster = SteppedCluster.Of(members: 3);
        string token = IssueToken(cluster, cluster.B);
        cluster.B.Time.SetToYear(year);
        cluster.C.Time.SetToYear(year);
        cluster.RunFor(milliseconds: 3000);
        Assert.All(
            cluster.Members,
            member =>
            {
                Assert.Null(Judge(cluster, member, token));
                Assert.Contains(
                    "`rookery cluster clock confirm`",
                    cluster
                        .Await(TokensOf(member).CreateAsync(JoinTokens.DefaultLife, CancellationToken.None).AsTask())
                        .Refusal,
                    StringComparison.Ordinal
                );
            }
        );
    }

    /// <summary>Issues a token; returns the key of its record.</summary>
    private string IssueToken(SteppedCluster cluster, SteppedMember issuer)
    {
        var (token, _, refusal) = cluster.Await(
            TokensOf(issuer).CreateAsync(JoinTokens.DefaultLife, CancellationToken.None).AsTask()
        );
        Assert.True(token is not null, refusal);
        return TokenRecord.KeyOf(token.Secret);
    }

    /// <summary>Returns why a member refuses a token; null when the token is valid.</summary>
    private JoinRefusal? Judge(SteppedCluster cluster, SteppedMember judge, string key)
    {
        cluster.AwaitEqual();
        return TokensOf(judge)
            .Judge(RecordStoreOf(judge).Find(key) is { } stored ? TokenRecord.Parse(stored.Value.Span) : null);
    }

    private JoinTokens TokensOf(SteppedMember member) => new(() => _identity, RecordStoreOf(member));

    private static ClusterRecordStore RecordStoreOf(SteppedMember member) =>
        new(member.Consensus!, member.Store!.ClusterRecords, static _ => ChangeAnswer.NothingToDo);
}
