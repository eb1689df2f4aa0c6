using Rookery.Scripting.Compiling;
using Rookery.Scripting.Functions;

namespace Rookery.Scripting.Tests;

/// <summary>Each function number has an implementation, and no other number has one.</summary>
public sealed class FunctionFamilyTests
{
    [Fact]
    public void Every_function_number_and_no_other_has_a_family()
    {
        var numbers = Enumerable.Range(0, byte.MaxValue + 1).Select(static number => (ScriptFunction)number);
        Assert.Equal(
            Enum.GetValues<ScriptFunction>(),
            numbers.Where(static function => FunctionFamilies.Of(function) != FunctionFamily.None)
        );
    }
}
