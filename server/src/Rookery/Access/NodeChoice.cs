using Rookery.Hosting;

namespace Rookery.Access;

/// <summary>Chooses the first of several nodes that answers.</summary>
internal static class NodeChoice
{
    private static readonly TimeSpan AnswerTimeout = TimeSpan.FromSeconds(5);

    // Nodes are asked in the order in which they were named. Each has this head start before the next one is asked too.
    private static readonly TimeSpan HeadStart = TimeSpan.FromMilliseconds(300);

    /// <summary>Returns the first node that answers. A single node is returned without asking it.</summary>
    /// <exception cref="AdminException">No node answers.</exception>
    public static async Task<NodeConnection> FirstThatAnswersAsync(IReadOnlyList<NodeConnection> nodes)
    {
        if (nodes.Count == 1)
        {
            return nodes[0];
        }

        using var chosen = new CancellationTokenSource();
        var attempts = new List<Task<string?>>();
        var reasons = new string?[nodes.Count];
        while (attempts.Count < nodes.Count || attempts.Exists(static task => !task.IsCompleted))
        {
            if (attempts.Count < nodes.Count)
            {
                attempts.Add(WhyNoAnswerAsync(nodes[attempts.Count], chosen.Token));
            }

            var pause = attempts.Count < nodes.Count ? HeadStart : Timeout.InfiniteTimeSpan;
            // If all attempts have failed, the next node is asked at once.
            await Task.WhenAny([
                .. attempts.Where(static task => !task.IsCompleted).Cast<Task>().DefaultIfEmpty(Task.CompletedTask),
                Task.Delay(pause, TimeProvider.System, chosen.Token),
            ]);
            for (int node = 0; node < attempts.Count; node++)
            {
                if (!attempts[node].IsCompleted)
                {
                    continue;
                }

                reasons[node] = await attempts[node];
                if (reasons[node] is null)
                {
                    await chosen.CancelAsync();
                    return nodes[node];
                }
            }
        }

        await chosen.CancelAsync();
        throw new AdminException(string.Join(' ', reasons.Select(static reason => reason!.Trim())), ExitCode.Failure);
    }

    /// <summary>Returns why a node does not answer a request for its liveness, in a sentence; null when it
    /// answers.</summary>
    public static async Task<string?> WhyNoAnswerAsync(NodeConnection node, CancellationToken cancellation)
    {
        using var client = node.NewClient(AnswerTimeout);
        try
        {
            using var answer = await client.GetAsync(new Uri(node.Address, "/livez"), cancellation);
            return null;
        }
        catch (HttpRequestException failure)
        {
            return (node with { NoAnswerHint = string.Empty }).Describe(failure);
        }
        catch (OperationCanceledException)
        {
            return (node with { NoAnswerHint = string.Empty }).NoAnswer(
                $"nothing came within {AnswerTimeout.TotalSeconds} s"
            );
        }
    }
}
