using System.Globalization;
using Rookery.Documents.Commands;
using Rookery.Documents.Records;
using Rookery.Server.Access;
using Rookery.Server.Raven;
using Rookery.Server.Tests.Raven;

namespace Rookery.Server.Tests.Access;

/// <summary>
/// The bound on the bytes of all credentials, when two members create credentials at the same time. Each member has its
/// own queue and counts the bytes in its own state. The order of their proposals in the log decides which one is
/// stored.
/// </summary>
public sealed class CredentialQuotaTests : IAsyncLifetime
{
    // The maximum of CredentialQuota for all credentials together.
    private const int MaxBytes = 1 << 20;

    // OneOfThree makes the single node appear as one of three members.
    private readonly RunningServer _server = new()
    {
        WrapConsensus = single => new OneOfThree(single, static _ => Task.CompletedTask),
    };

    private OneOfThree Consensus => (OneOfThree)_server.Node.Consensus;

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task The_member_whose_proposal_is_second_counts_again_and_stores_its_credential()
    {
        var outcomes = await CreateOnBothAsync();
        Assert.All(outcomes, Assert.Null);
        Assert.Equal(["access/one", "access/two"], ListCredentials());

        // The second of the two is rejected, and proposed again.
        Assert.Equal(3, Consensus.ProposedWrites);
    }

    [Fact]
    public async Task Two_members_together_do_not_exceed_the_bound()
    {
        // 10 bytes below the maximum, both members find room for one more credential, which then reaches the maximum.
        await FillAsync(MaxBytes - 10);
        int before = Consensus.ProposedWrites;
        var outcomes = await CreateOnBothAsync();
        var refused = Assert.IsType<RefusedException>(Assert.Single(outcomes, static outcome => outcome is not null));
        Assert.Equal(409, refused.Status);
        Assert.Contains("the maximum", refused.Message, StringComparison.Ordinal);
        Assert.Single(ListCredentials(), static key => key is "access/one" or "access/two");

        // The member that was second finds no room when it counts again, and proposes nothing.
        Assert.Equal(before + 2, Consensus.ProposedWrites);
    }

    [Fact]
    public async Task A_member_whose_proposals_always_come_second_creates_nothing_and_reports_it()
    {
        // Before each proposal of this member, another member creates a credential.
        Consensus.BeforeWrite = async otherMember =>
        {
            using var writer = new ClusterRecordWriter();
            writer.Set(ClusterRecordPrefix.CredentialQuota, "{}"u8, expectedVersion: null);
            Assert.Null((await otherMember.ProposeAsync(writer.Complete(), CancellationToken.None)).Rejection);
        };
        var refused = await Assert.ThrowsAsync<RefusedException>(() => CreateAsync(CreateQuota(), "one"));
        Assert.Equal(503, refused.Status);
        Assert.Contains("Nothing was created", refused.Message, StringComparison.Ordinal);
        Assert.Empty(ListCredentials());
    }

    /// <summary>Creates a credential on each of two members. Both count the bytes before either is stored.</summary>
    /// <returns>The failure of each of them; null for success.</returns>
    private async Task<IReadOnlyList<Exception?>> CreateOnBothAsync()
    {
        var bothCounted = new TaskCompletionSource();
        int before = Consensus.ProposedWrites;
        Consensus.WritesMayContinue = bothCounted.Task;
        Task[] members = [CreateAsync(CreateQuota(), "one"), CreateAsync(CreateQuota(), "two")];
        while (Consensus.ProposedWrites < before + 2)
        {
            await Task.Yield();
        }

        Consensus.WritesMayContinue = Task.CompletedTask;
        bothCounted.SetResult();
        return [.. await Task.WhenAll(members.Select(static member => Record.ExceptionAsync(() => member)))];
    }

    private CredentialQuota CreateQuota() => new(_server.Context, new SemaphoreSlim(1));

    private static Task CreateAsync(CredentialQuota quota, string name) =>
        quota.CommitAsync(
            writer => writer.Set($"access/{name}", "{\"Name\":\"of a test\"}"u8, ClusterRecord.Absent),
            taken: null
        );

    /// <summary>Stores credentials whose keys and values together have a number of bytes.</summary>
    private async Task FillAsync(int bytes)
    {
        const int MaxRecordBytes = 32 << 10;
        for (int index = 0; bytes > 0; index++)
        {
            using var writer = new ClusterRecordWriter();
            string key = string.Create(CultureInfo.InvariantCulture, $"access/fill-{index:000}");
            int recordBytes = Math.Min(bytes, MaxRecordBytes);
            byte[] value = new byte[recordBytes - key.Length];
            value.AsSpan().Fill((byte)' ');
            writer.Set(key, value, ClusterRecord.Absent);
            var outcome = await Consensus.ProposeAsync(writer.Complete(), CancellationToken.None);
            Assert.Null(outcome.Rejection);
            bytes -= recordBytes;
        }
    }

    /// <summary>Returns the keys of the credentials, except those of <see cref="FillAsync"/>.</summary>
    private string[] ListCredentials() =>
        [
            .. _server
                .Node.ClusterRecords.List(ClusterRecordPrefix.Access)
                .Select(static record => record.Key)
                .Where(static key => !key.Contains("fill", StringComparison.Ordinal))
                .Order(StringComparer.Ordinal),
        ];
}
