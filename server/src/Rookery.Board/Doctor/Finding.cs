namespace Rookery.Board.Doctor;

/// <summary>How much a finding matters.</summary>
public enum Severity
{
    /// <summary>As it should be.</summary>
    Ok,

    /// <summary>Worth knowing; nothing has to be done.</summary>
    Notice,

    /// <summary>Something to be put right before it hurts.</summary>
    Warning,

    /// <summary>The node does not, or soon will not, do what it is for.</summary>
    Error,
}

/// <summary>One thing that `rookery doctor` has to say.</summary>
/// <param name="Subject">What it is about, in a word.</param>
/// <param name="Severity">How much it matters.</param>
/// <param name="Sentence">What is.</param>
/// <param name="Fix">What to do; null when nothing has to be done.</param>
public sealed record Finding(string Subject, Severity Severity, string Sentence, string? Fix = null);
