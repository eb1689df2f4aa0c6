namespace Rookery.Board.Doctor;

/// <summary>The severity of a finding.</summary>
public enum Severity
{
    /// <summary>All is well.</summary>
    Ok,

    /// <summary>Worth knowing; no action is needed.</summary>
    Notice,

    /// <summary>Should be corrected before it causes a failure.</summary>
    Warning,

    /// <summary>The node does not work, or will soon stop working.</summary>
    Error,
}

/// <summary>One finding of `rookery doctor`.</summary>
/// <param name="Subject">Its subject, in one word.</param>
/// <param name="Severity">Its severity.</param>
/// <param name="Sentence">The finding, in a sentence.</param>
/// <param name="Fix">What to do; null if no action is needed.</param>
public sealed record Finding(string Subject, Severity Severity, string Sentence, string? Fix = null);
