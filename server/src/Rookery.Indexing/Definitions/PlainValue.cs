using System.Globalization;
using Rookery.Json;
using Rookery.Scripting.Compiling;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// A value that needs no interpreter: a constant of the text, or a part of the input JSON that is copied unchanged.
/// Most values of most maps are of this kind.
/// </summary>
internal abstract record PlainValue
{
    /// <summary>Reads the value.</summary>
    /// <param name="members">The members of the input object, without braces.</param>
    /// <param name="ranges">The ranges of the input's <see cref="NamedMembers"/>.</param>
    /// <param name="json">The value; empty if undefined.</param>
    /// <returns>False if only the interpreter can decide.</returns>
    public abstract bool TryRead(
        ReadOnlySpan<byte> members,
        scoped ReadOnlySpan<Range> ranges,
        out ReadOnlySpan<byte> json
    );

    /// <summary>A constant of the text.</summary>
    /// <param name="Json">The value; empty for undefined.</param>
    internal sealed record Constant(byte[] Json) : PlainValue
    {
        /// <inheritdoc/>
        public override bool TryRead(
            ReadOnlySpan<byte> members,
            scoped ReadOnlySpan<Range> ranges,
            out ReadOnlySpan<byte> json
        )
        {
            json = Json;
            return true;
        }
    }

    /// <summary>A member of the input, or a member of that member.</summary>
    /// <param name="Root">The position of the member in the <see cref="NamedMembers"/>.</param>
    /// <param name="Below">The names of nested members.</param>
    /// <param name="IsId">Whether a missing member means the document's id.</param>
    internal sealed record Member(int Root, byte[][] Below, bool IsId) : PlainValue
    {
        /// <summary>
        /// Whether the text is C#. There, a member access on a value that is no object may fail or read a property,
        /// such as <c>Length</c>, so the interpreter must decide.
        /// </summary>
        public bool IsCSharp { get; init; }

        /// <inheritdoc/>
        public override bool TryRead(
            ReadOnlySpan<byte> members,
            scoped ReadOnlySpan<Range> ranges,
            out ReadOnlySpan<byte> json
        )
        {
            json = members[ranges[Root]];
            foreach (byte[] name in Below)
            {
                if (IsCSharp && !json.IsEmpty && json[0] is not ((byte)'{' or (byte)'n'))
                {
                    return false;
                }

                json =
                    !json.IsEmpty
                    && json[0] == (byte)'{'
                    && StoredJson.TryFindMember(json, container: 0, name, out _, out int at)
                        ? json[at..StoredJson.SkipValue(json, at)]
                        : default;
            }

            return !IsId || !json.IsEmpty;
        }
    }

    /// <summary><c>a || b</c>, <c>a ?? b</c>, <c>a &amp;&amp; b</c>.</summary>
    /// <param name="Keep">The operator, as the jump that keeps the left value.</param>
    /// <param name="Left">The left operand.</param>
    /// <param name="Right">The right operand.</param>
    internal sealed record Choice(Opcode Keep, PlainValue Left, PlainValue Right) : PlainValue
    {
        /// <inheritdoc/>
        public override bool TryRead(
            ReadOnlySpan<byte> members,
            scoped ReadOnlySpan<Range> ranges,
            out ReadOnlySpan<byte> json
        )
        {
            if (!Left.TryRead(members, ranges, out json))
            {
                return false;
            }

            // The first byte of a JSON value shows its kind; n begins null.
            bool isKept = Keep switch
            {
                Opcode.JumpKeepingTrue => IsTrue(json),
                Opcode.JumpKeepingFalse => !IsTrue(json),
                _ => !json.IsEmpty && json[0] != (byte)'n',
            };
            return isKept || Right.TryRead(members, ranges, out json);
        }

        private static bool IsTrue(ReadOnlySpan<byte> json) =>
            !json.IsEmpty
            && json[0] switch
            {
                (byte)'n' or (byte)'f' => false,
                (byte)'t' or (byte)'{' or (byte)'[' => true,
                (byte)'"' => json.Length > 2,
                _ => double.Parse(json, NumberStyles.Float, CultureInfo.InvariantCulture) != 0,
            };
    }
}
