using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Rookery.Platform;

/// <summary>
/// Assertions about Rookery's own logic, checked in Release builds too. A wrong value must stop the process before it
/// reaches the disk.
/// </summary>
public static class Invariant
{
    /// <summary>Throws when <paramref name="condition"/> is false.</summary>
    /// <param name="condition">The condition that must hold.</param>
    /// <param name="rule">The rule in words, in the present tense ("a run is ordered").</param>
    /// <exception cref="InvariantViolationException">The rule does not hold.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining), StackTraceHidden]
    public static void Holds([DoesNotReturnIf(false)] bool condition, string rule)
    {
        if (!condition)
        {
            Fail(rule);
        }
    }

    [DoesNotReturn, StackTraceHidden]
    private static void Fail(string rule) => throw new InvariantViolationException(rule);
}

/// <summary>
/// A bug in Rookery, detected before it could damage data. Code must not catch this exception and continue.
/// </summary>
/// <param name="rule">The violated rule.</param>
public sealed class InvariantViolationException(string rule) : Exception($"Invariant violated: {rule}.");
