using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Rookery.Platform;

/// <summary>
/// Assertions about our own logic. They hold in Release too: a wrong value must stop us before it reaches the card.
/// </summary>
public static class Invariant
{
    /// <summary>Throws when <paramref name="condition"/> is false.</summary>
    /// <param name="condition">What must hold here.</param>
    /// <param name="rule">The rule in words, present tense ("a run is ordered").</param>
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

/// <summary>A bug in Rookery, caught before it could damage data. Never caught and continued from.</summary>
/// <param name="rule">The rule that was found broken.</param>
public sealed class InvariantViolationException(string rule) : Exception($"Invariant violated: {rule}.");
