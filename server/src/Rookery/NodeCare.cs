using Microsoft.Extensions.Logging;
using Rookery.Board;
using Rookery.Documents;
using Rookery.Server;

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

    /// <summary>Says whether documents are indexed now; false until it is set.</summary>
    public Func<bool> IsIndexing { get; set; } = static () => false;

    /// <summary>The share of a core that indexing may take now. It and maintenance have half each of what the board allows while both work.</summary>
    public double IndexingShare => BoardCare.BackgroundShareOf(watch.Reading) / (node.IsMaintaining ? 2 : 1);

    public void Dispose() => watch.Sampled = null;

    private void Sampled(BoardWatch sampled)
    {
        node.BackgroundShare = BoardCare.BackgroundShareOf(sampled.Reading) / (IsIndexing() ? 2 : 1);
        var condition = sampled.Condition;
        if (condition > told && sampled.Trouble is { } trouble)
        {
            log.LogWarning(LogEvents.BoardTrouble, "{Trouble}", trouble);
        }
        else if (condition == BoardCondition.Well && told != BoardCondition.Well)
        {
            log.LogInformation(LogEvents.BoardWell, "The board has been well for five minutes.");
        }

        told = condition;
    }
}
