using System.Collections.Immutable;
using Microsoft.Extensions.Logging;
using Rookery.Platform;
using Rookery.Server.Support;

namespace Rookery.Server.Alerts;

/// <summary>
/// Evaluates the alerts of this node every ten seconds. An alert becomes active once its condition has held for
/// <see cref="AlertDefinition.For"/>, and ends once it was absent for <see cref="AlertDefinition.KeepFiring"/>.
/// Thread-safe.
/// </summary>
public sealed class AlertWatch : IDisposable
{
    /// <summary>Time between two evaluations.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(10);

    private readonly Func<AlertFacts?> _read;
    private readonly TimeProvider _time;
    private readonly ILogger _log;
    private readonly ITimer _timer;

    // The states of each alert: one, or one for each other member.
    private readonly (AlertDefinition Definition, List<State> States)[] _watched =
    [
        .. AlertCatalogue.All.Where(static alert => alert.IsOwn).Select(static alert => (alert, new List<State>())),
    ];
    private ImmutableArray<ActiveAlert> _active = [];
    private int _isJudging;
    private bool _hasFailed;

    /// <summary>Starts to evaluate.</summary>
    /// <param name="context">The node. The constructor sets <see cref="ServerContext.ActiveAlerts"/>.</param>
    public AlertWatch(ServerContext context)
        : this(new FactsReader(context).Read, context.Time, context.Log) => context.ActiveAlerts = () => Active;

    /// <summary>Starts to evaluate, with facts from a function.</summary>
    /// <param name="read">Reads the facts; null if there are none now.</param>
    /// <param name="time">The clock.</param>
    /// <param name="log">Log for the beginning and end of each alert.</param>
    internal AlertWatch(Func<AlertFacts?> read, TimeProvider time, ILogger log)
    {
        (_read, _time, _log) = (read, time, log);
        _timer = time.CreateTimer(static watch => ((AlertWatch)watch!).Evaluate(), this, Interval, Interval);
    }

    /// <summary>The active alerts, most severe first.</summary>
    public IReadOnlyList<ActiveAlert> Active => _active;

    /// <summary>Called after each change of <see cref="Active"/>, on the timer's thread. It must not block.</summary>
    public Action? Changed { get; set; }

    /// <summary>Stops evaluating.</summary>
    public void Dispose() => _timer.Dispose();

    private void Evaluate()
    {
        // If the previous evaluation still hangs in a driver, skip this one.
        if (Interlocked.Exchange(ref _isJudging, 1) != 0)
        {
            return;
        }

        try
        {
            if (_read() is { } facts)
            {
                UpdateAlerts(facts);
            }
        }
        catch (Exception failure) when (failure is IOException or ObjectDisposedException or InvalidOperationException)
        {
            // The node is closing or a file system does not answer; the known alerts stay.
            _log.LogDebug(failure, "Alerts could not be judged");
        }
        catch (Exception failure) when (failure is not InvariantViolationException)
        {
            // An exception on the timer's thread would end the process, and a node without alerts is better than none.
            // The exception is logged once.
            if (!_hasFailed)
            {
                _hasFailed = true;
                _log.LogError(
                    LogEvents.AlertsFail,
                    failure,
                    "The node cannot evaluate its alerts because of an error in Rookery, and retries"
                );
            }
        }
        finally
        {
            Volatile.Write(ref _isJudging, 0);
        }
    }

    private void UpdateAlerts(AlertFacts facts)
    {
        bool hasChanged = false;
        foreach (var (definition, states) in _watched)
        {
            var conditions = definition.Evaluate(facts).ToList();
            states.AddRange(
                conditions
                    .Where(condition => !states.Exists(state => state.IsAbout(condition.Member)))
                    .Select(condition => new State(definition, condition.Member))
            );
            foreach (var state in states)
            {
                hasChanged |= UpdateState(
                    state,
                    conditions.Find(condition => state.IsAbout(condition.Member)).Sentence
                );
            }

            states.RemoveAll(static state => state.BegunAt is null);
        }

        var active = _watched
            .SelectMany(static watched => watched.States)
            .Where(static state => state.IsActive)
            .Select(static state => state.ToAlert())
            .ToImmutableArray();
        ImmutableInterlocked.InterlockedExchange(ref _active, active);
        if (hasChanged)
        {
            Changed?.Invoke();
        }
    }

    /// <summary>Records the result of an evaluation of one alert.</summary>
    /// <returns>Whether the alert began or ended.</returns>
    private bool UpdateState(State state, string? sentence)
    {
        long now = _time.GetTimestamp();
        state.Holds = sentence is not null;
        if (sentence is not null)
        {
            state.Sentence = sentence;
            state.HeldAt = now;
            if (state.BegunAt is null)
            {
                (state.BegunAt, state.Since) = (now, _time.GetUtcNow());
            }

            if (state.IsActive || _time.GetElapsedTime(state.BegunAt.Value, now) < state.Definition.For)
            {
                return false;
            }

            state.IsActive = true;
            _log.LogWarning(
                LogEvents.AlertBegan,
                "Alert {Name}: {Sentence} {Fix}",
                state.Definition.Name,
                sentence,
                state.Definition.Fix
            );
            return true;
        }

        if (
            state.BegunAt is null
            || (state.IsActive && _time.GetElapsedTime(state.HeldAt, now) < state.Definition.KeepFiring)
        )
        {
            return false;
        }

        bool wasActive = state.IsActive;
        (state.BegunAt, state.IsActive) = (null, false);
        if (wasActive)
        {
            _log.LogInformation(LogEvents.AlertEnded, "Alert {Name} is over.", state.Definition.Name);
        }

        return wasActive;
    }

    /// <summary>State of one alert.</summary>
    private sealed class State(AlertDefinition definition, string? member)
    {
        public AlertDefinition Definition => definition;

        /// <summary>What is wrong, as of the last evaluation at which the condition held.</summary>
        public string Sentence { get; set; } = string.Empty;

        /// <summary>Timestamp at which the condition began to hold; null while the alert has not begun.</summary>
        public long? BegunAt { get; set; }

        /// <summary>Timestamp of the last evaluation at which the condition held.</summary>
        public long HeldAt { get; set; }

        /// <summary>Whether the condition held at the last evaluation.</summary>
        public bool Holds { get; set; }

        /// <summary>The time of <see cref="BegunAt"/>.</summary>
        public DateTimeOffset Since { get; set; }

        public bool IsActive { get; set; }

        public bool IsAbout(string? other) => string.Equals(member, other, StringComparison.Ordinal);

        // While KeepFiring runs, the condition is absent: the figures are those of its last occurrence.
        public ActiveAlert ToAlert() =>
            Holds
                ? new(definition.Name, definition.Severity, Since, Sentence, definition.Fix, definition.Help, member)
                : new(
                    definition.Name,
                    AlertSeverity.Warning,
                    Since,
                    $"The condition no longer holds. The alert ends if the condition stays absent for "
                        + $"{Amount.Time(definition.KeepFiring)}. It was: {Sentence}",
                    definition.Fix,
                    definition.Help,
                    member
                );
    }
}
