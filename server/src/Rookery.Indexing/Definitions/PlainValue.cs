using System.Globalization;
using Rookery.Json;
using Rookery.Scripting.Compiling;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// A value that a script has in its text or takes from the JSON it is given as it stands there, so that no machine is
/// needed: most values of most maps.
/// </summary>
internal abstract record PlainValue
{
    /// <summary>Reads it.</summary>
    /// <param name="members">The members of the object that the script is given, without braces.</param>
    /// <param name="found">Where the values of its <see cref="NamedMembers"/> stand.</param>
    /// <param name="json">The value; empty where it is undefined.</param>
    /// <returns>False where only the machine knows.</returns>
    public abstract bool TryRead(
        ReadOnlySpan<byte> members,
        scoped ReadOnlySpan<Range> found,
        out ReadOnlySpan<byte> json
    );

    /// <summary>What stands in the text.</summary>
    /// <param name="Json">The value; empty for undefined.</param>
    internal sealed record Constant(byte[] Json) : PlainValue
    {
        /// <inheritdoc/>
        public override bool TryRead(
            ReadOnlySpan<byte> members,
            scoped ReadOnlySpan<Range> found,
            out ReadOnlySpan<byte> json
        )
        {
            json = Json;
            return true;
        }
    }

    /// <summary>A member, or a member of a member.</summary>
    /// <param name="Root">Which of the named members.</param>
    /// <param name="Below">The names below it.</param>
    /// <param name="IsId">Whether it is a document's id where there is no such member.</param>
    internal sealed record Member(int Root, byte[][] Below, bool IsId) : PlainValue
    {
        /// <summary>Whether a member of what is no object may be one that C# has, or fail.</summary>
        public bool IsCSharp { get; init; }

        /// <inheritdoc/>
        public override bool TryRead(
            ReadOnlySpan<byte> members,
            scoped ReadOnlySpan<Range> found,
            out ReadOnlySpan<byte> json
        )
        {
            json = members[found[Root]];
            foreach (byte[] name in Below)
            {
                if (IsCSharp && !json.IsEmpty && json[0] is not ((byte)'{' or (byte)'n'))
                {
                    return false;
                }

                json =
                    !json.IsEmpty && json[0] == (byte)'{' && StoredJson.TryFindMember(json, 0, name, out _, out int at)
                        ? json[at..StoredJson.SkipValue(json, at)]
                        : default;
            }

            return !IsId || !json.IsEmpty;
        }
    }

    /// <summary><c>a || b</c>, <c>a ?? b</c>, <c>a &amp;&amp; b</c>.</summary>
    /// <param name="Keep">What keeps the left value.</param>
    /// <param name="Left">The left value.</param>
    /// <param name="Right">The other.</param>
    internal sealed record Choice(Opcode Keep, PlainValue Left, PlainValue Right) : PlainValue
    {
        /// <inheritdoc/>
        public override bool TryRead(
            ReadOnlySpan<byte> members,
            scoped ReadOnlySpan<Range> found,
            out ReadOnlySpan<byte> json
        )
        {
            if (!Left.TryRead(members, found, out json))
            {
                return false;
            }

            bool isKept = Keep switch
            {
                Opcode.JumpKeepingTrue => IsTrue(json),
                Opcode.JumpKeepingFalse => !IsTrue(json),
                _ => !json.IsEmpty && json[0] != (byte)'n',
            };
            return isKept || Right.TryRead(members, found, out json);
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
