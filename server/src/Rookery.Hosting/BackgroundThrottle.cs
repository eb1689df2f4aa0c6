using Microsoft.Extensions.Logging;
using Rookery.Board;
using Rookery.Documents.Nodes;
using Rookery.Hosting.Logging;
using Rookery.Server.Support;

namespace Rookery.Hosting;

/// <summary>
/// Limits a node's background work by the board's temperature and throttling. Logs each worsening of the board's
/// condition, and its recovery.
/// </summary>
internal sealed class BackgroundThrottle : IDisposable
{
    private readonly Node _node;
    private readonly BoardWatch _watch;
    private readonly StandardErrorLog _log;
    private BoardCondition _loggedCondition;

    public BackgroundThrottle(Node node, BoardWatch watch, StandardErrorLog log)
    {
        _node = node;
        _watch = watch;
        _log = log;
        Apply(watch);
        watch.Sampled = Apply;
    }

    /// <summary>
    /// Returns whether documents are being indexed now. Set once indexing has started; false until then.
    /// </summary>
    public Func<bool> IsIndexing { get; set; } = static () => false;

    /// <summary>
    /// The share of a core that indexing may take now, 0 to 1. While indexing and maintenance both run, each gets half
    /// of the share that the board's state allows.
    /// </summary>
    public double IndexingShare => BoardPolicy.BackgroundShareOf(_watch.Reading) / (_node.IsMaintaining ? 2 : 1);

    public void Dispose() => _watch.Sampled = null;

    // Limits background work by the last reading, and logs a change of the board's condition.
    private void Apply(BoardWatch sampled)
    {
        _node.BackgroundShare = BoardPolicy.BackgroundShareOf(sampled.Reading) / (IsIndexing() ? 2 : 1);
        var condition = sampled.Condition;
        if (condition > _loggedCondition && sampled.Trouble is { } trouble)
        {
            _log.LogWarning(LogEvents.BoardTrouble, "{Trouble}", trouble);
        }
        else if (condition == BoardCondition.Well && _loggedCondition != BoardCondition.Well)
        {
            _log.LogInformation(LogEvents.BoardWell, "The board has been well for five minutes.");
        }

        _loggedCondition = condition;
    }
}
