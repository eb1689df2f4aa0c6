using Microsoft.Extensions.Logging;
using Rookery.Board;
using Rookery.Documents;

namespace Rookery;

/// <summary>Lets a node's background work go by what its board reports, and tells the owner of what is wrong with it, once each time.</summary>
internal sealed class NodeCare : IDisposable
{
    private readonly Node node;
    private readonly BoardWatch watch;
    private readonly StandardErrorLog log;
    private BoardCondition told;

    public NodeCare(Node node, BoardWatch watch, StandardErrorLog log)
    {
        this.node = node;
        this.watch = watch;
        this.log = log;
        Sampled(watch);
        watch.Sampled = Sampled;
    }

    public void Dispose() => watch.Sampled = null;

    private void Sampled(BoardWatch sampled)
    {
        node.BackgroundShare = BoardCare.BackgroundShareOf(sampled.Reading);
        var condition = sampled.Condition;
        if (condition > told && sampled.Trouble is { } trouble)
        {
            log.LogWarning("{Trouble}", trouble);
        }
        else if (condition == BoardCondition.Well && told != BoardCondition.Well)
        {
            log.LogInformation("The board has been well for five minutes.");
        }

        told = condition;
    }
}
