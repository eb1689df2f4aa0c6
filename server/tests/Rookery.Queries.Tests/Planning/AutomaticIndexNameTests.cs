using Rookery.Queries.Language;
using Rookery.Queries.Planning;

namespace Rookery.Queries.Tests.Planning;

/// <summary>The names of automatic indexes, which show collection and fields as RavenDB's do.</summary>
public sealed class AutomaticIndexNameTests
{
    [Theory]
    [InlineData("from Users where name = 1 order by age", "Auto/Users/BynameAndage")]
    [InlineData(
        "from Users where name = 1 and (age > 2 or not exists(a.b[].c)) order by name",
        "Auto/Users/BynameAndageAnda_b_c"
    )]
    [InlineData(
        "from Users where search(bio, 'x') and exact(name = 'y') and boost(fuzzy(city = 'z', 0.5), 2)",
        "Auto/Users/BySearch(bio)AndExact(name)Andcity"
    )]
    [InlineData(
        "from Users where a between 1 and 2 and b in (1) and startsWith(c, 'x') and intersect(d = 1, e = 2)",
        "Auto/Users/ByaAndbAndcAnddAnde"
    )]
    [InlineData("from @all_docs where a = 1", "Auto/AllDocs/Bya")]
    [InlineData(
        "from Orders group by company select company, count(), sum(total)",
        "Auto/Orders/ByCountAndtotalReducedBycompany"
    )]
    [InlineData("from Users select name", "collection/Users")]
    [InlineData("from @all_docs order by random()", "AllDocs")]
    [InlineData("from index 'Users/ByName' where name = 1", "Users/ByName")]
    [InlineData(
        "from U where a=1 and b=1 and c=1 and d=1 and e=1 and f=1 and g=1 and h=1 and i=1",
        "Auto/U/ByaAndbAndcAnddAndeAndfAndgAndh"
    )]
    public void A_query_reports_the_name_of_the_index_it_would_have(string query, string name) =>
        Assert.Equal(name, AutomaticIndexName.Of(RqlParser.Parse(query)));
}
