// Opens pages in a real Chromium, light and dark, wide and narrow: nothing is fetched, nothing
// stands out of the page or scrolls sideways at 390 pixels, the keyboard reaches the content, and axe finds nothing.
//
//   node pages.mjs FOLDER PAGE…     writes PAGE-SCHEME-WIDTH.png beside each page
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(process.env.GATE_BROWSER_MODULES + '/');
const { chromium } = require('playwright-core');
const { AxeBuilder } = require('@axe-core/playwright');

const [folder, ...pages] = process.argv.slice(2);
// The headline, the bar and the worst five claims stand on the first screen, the worst first; a number of
// the bar's legend leads to its claims.
async function firstScreen(page) {
  const faults = [];
  for (const part of ['h1', 'svg.timeline', '.claims li:nth-child(5)']) {
    const box = await page.locator(part).first().boundingBox();
    if (!box || box.y + box.height > 900) faults.push(`${part} is not on the first screen: ${JSON.stringify(box)}`);
  }
  const worst = await page.locator('.claims').first().locator('.verdict').first().innerText();
  if (!worst.includes('failed')) faults.push(`the first claim is not the worst: ${worst}`);
  await page.locator('.legend a').last().click();
  if (!(await page.locator('details[open] .claims li').first().isVisible())) faults.push('a number does not lead to its claims');
  await page.goto(page.url().split('#')[0]);
  return faults;
}
const browser = await chromium.launch({
  executablePath: process.env.GATE_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const problems = [];
for (const name of pages) {
  const url = pathToFileURL(`${folder}/${name}.html`).href;
  const times = [];
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [1280, 390]) {
      const where = `${name} ${colorScheme} ${width}`;
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const page = await context.newPage();
      page.on('request', request => request.url().split('#')[0] === url || problems.push(`${where}: fetches ${request.url()}`));
      page.on('console', message => problems.push(`${where}: ${message.text()}`));
      await page.goto(url);
      times.push(await page.evaluate(() => performance.getEntriesByType('navigation')[0].loadEventEnd));
      const { violations } = await new AxeBuilder({ page }).analyze();
      violations.forEach(found => problems.push(`${where}: ${found.id}: ${found.nodes[0].html}`));
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (over > 0) problems.push(`${where}: ${over} pixels wider than the window`);
      const scrolled = await page.evaluate(() => [...document.querySelectorAll('main *')]
        .filter(one => one.scrollWidth > one.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(one).overflowX))
        .map(one => one.outerHTML.slice(0, 80)));
      if (width === 390) scrolled.forEach(one => problems.push(`${where}: scrolls sideways: ${one}`));
      if (name === 'audit') problems.push(...(await firstScreen(page)).map(fault => `${where}: ${fault}`));
      await page.keyboard.press('Tab');
      const focus = await page.evaluate(() => document.activeElement?.getAttribute('href'));
      if (focus !== '#main') problems.push(`${where}: the first stop of the keyboard is ${focus}`);
      await page.screenshot({ path: `${folder}/${name}-${colorScheme}-${width}.png`, fullPage: true });
      await context.close();
    }
  }
  console.log(`${name}: opened in ${Math.max(...times).toFixed(0)} ms at most`);
}
await browser.close();
problems.forEach(problem => console.error(problem));
process.exit(problems.length === 0 ? 0 : 1);
