using System.Runtime.CompilerServices;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>C# code that is also an index text.</summary>
/// <param name="Value">The code, as the C# compiler translates it.</param>
/// <param name="Text">The same code as text.</param>
internal sealed record CSharpCase(
    Func<CSharpOrder, object?> Value,
    [CallerArgumentExpression(nameof(Value))] string Text = ""
);
