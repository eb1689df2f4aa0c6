using Microsoft.AspNetCore.Http;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Peers;
using Rookery.Cluster.Tests.Identity;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>
/// Stopping the port for members. The clock moves only when a test moves it, so no timeout ends a wait.
/// </summary>
public sealed class PeerStopTests : IDisposable
{
    // Ends a test that would otherwise hang; a passing test does not wait for it.
    private static readonly TimeSpan Guard = TimeSpan.FromSeconds(60);

    private readonly ClusterAuthority _authority = TestAuthority.Create();
    private readonly SimulatedTimeProvider _time = new();

    public void Dispose() => _authority.Dispose();

    [Fact]
    public async Task Connections_between_members_end_at_once()
    {
        var members = await TestMember.StartAllAsync(_authority, "A1", "B2");
        await members[0].StopAsync(_time).WaitAsync(Guard);
        Assert.False(members[0].HasLogged("cut off"));
        foreach (var member in members)
        {
            await member.DisposeAsync();
        }
    }

    [Fact]
    public async Task A_request_in_flight_is_still_answered()
    {
        var mayAnswer = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var (member, answer) = await StartRequestAsync(mayAnswer.Task);
        await using (member)
        {
            var stopped = member.StopAsync(_time);
            _time.Advance(PeerListener.StopTimeout - TimeSpan.FromSeconds(1));
            Assert.False(stopped.IsCompleted);
            mayAnswer.SetResult();
            Assert.Equal("done", await answer.WaitAsync(Guard));
            await stopped.WaitAsync(Guard);
            Assert.False(member.HasLogged("cut off"));
        }
    }

    [Fact]
    public async Task A_request_without_an_answer_is_aborted_after_the_timeout_and_that_is_logged()
    {
        var mayAnswer = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var (member, answer) = await StartRequestAsync(mayAnswer.Task);
        await using (member)
        {
            var stopped = member.StopAsync(_time);
            _time.Advance(PeerListener.StopTimeout);
            await stopped.WaitAsync(Guard);
            await Assert.ThrowsAsync<HttpRequestException>(() => answer);
            Assert.True(member.HasLogged("had no answer 10 s after the port for members began to stop"));
            mayAnswer.SetResult();
        }
    }

    /// <summary>Starts a member and a request, which the member answers once a task completes.</summary>
    private async Task<(TestMember Member, Task<string> Answer)> StartRequestAsync(Task mayAnswer)
    {
        var requestArrived = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var member = await TestMember.StartAsync(
            TestMember.Hello("B2"),
            TestMember.TrustOf(_authority, "B2"),
            held: async http =>
            {
                requestArrived.SetResult();
                await mayAnswer;
                await http.Response.WriteAsync("done");
            }
        );
        var client = PeerHttp.CreateClient(
            TestMember.TrustOf(_authority, "A1")(),
            member.Node,
            member.Address.Addresses,
            TestMember.Hello("A1")
        );
        var answer = client.GetStringAsync(new Uri(TestMember.HeldPath, UriKind.Relative));
        await requestArrived.Task.WaitAsync(Guard);
        return (member, answer);
    }
}
